package io.holdfast.differential

import io.holdfast.testkit.Provider

/** What a query, its failures and its restarts do to a store.
  *
  * @param settings
  *   the settings of the query
  */
final case class Script(settings: Settings, steps: List[Step]) {
  override def toString: String = steps.mkString(s"$settings\n  ", "\n  ", "\n")
}

/** @param prefixKeys
  *   whether the store is made for prefix scans
  * @param minDeltas
  *   deltas without a snapshot
  * @param retained
  *   versions that stay readable after the newest
  */
final case class Settings(
    codec: String,
    prefixKeys: Boolean,
    rowChecksums: Boolean,
    minDeltas: Int,
    retained: Int,
    inMemory: Int) {

  def provider: Provider = Provider(
    keySchema = Rows.keySchema,
    valueSchema = Rows.valueSchema,
    prefixColumns = Option.when(prefixKeys)(Rows.PrefixColumns))
    .codec(codec)
    .rowChecksums(rowChecksums)
    .minDeltas(minDeltas)
    .retained(retained)
    .inMemory(inMemory)
}

sealed trait Step

/** A batch on the newest version, by tasks that run at the same time: the stores are opened first,
  * the operations are done by turns, and the stores are ended in order.
  *
  * @param withSnapshot
  *   whether Spark asks for a snapshot with the commits
  */
final case class Batch(attempts: List[Attempt], withSnapshot: Boolean) extends Step

/** A task.
  *
  * @param commits
  *   whether it ends with a commit or with an abort
  */
final case class Attempt(opening: Opening, operations: List[Operation], commits: Boolean)

sealed trait Opening
object Opening {
  case object ForWriting extends Opening

  /** A read store first, as aggregations do it, and beside it the one for writing. */
  case object AfterReading extends Opening

  /** The one for writing is made out of a read store. */
  case object Upgraded extends Opening
}

/** The batch that made the version `age` versions ago once more, as a retried task does it. */
final case class SameAgain(age: Int) extends Step

/** Another batch in the place of those after the version `age` versions ago, as a query that was
  * restarted from an older batch does it.
  */
final case class Rewind(age: Int, operations: List[Operation]) extends Step

/** A look at the version `age` versions ago. */
final case class Look(age: Int) extends Step

case object Maintain extends Step

/** All that is in memory is forgotten.
  *
  * @param swapped
  *   whether each provider goes on with the files of the other
  */
final case class Reopen(swapped: Boolean) extends Step

package io.holdfast.checkpoint

import java.util.UUID

/** A version of a store, and in checkpoint format 2 which attempt at it.
  *
  * Spark's format 1 knows versions by number: every attempt writes the same files and the last one
  * wins. In format 2 (`spark.sql.streaming.stateStore.checkpointFormatVersion`, Spark 4.0) each
  * attempt has an id of its own, the files carry it in their names, and the commit log says which
  * attempt won, so that a late attempt can replace nothing.
  *
  * An id is `<attempt>-<base>`: a random name of the attempt and that of the attempt at the version
  * before which it started from, or `none` if that has no id. So the names in a folder tell which
  * deltas lead to a version.
  *
  * @param number
  *   the version
  * @param id
  *   the id of the attempt; nothing in format 1
  */
private[holdfast] final case class VersionId(number: Long, id: Option[String]) {

  /** File name without suffix. */
  def fileName: String = id.fold(number.toString)(id => s"${number}_$id")

  /** What the ids of the next version end with if they start from this one. */
  def attempt: String = id.fold(VersionId.NoBase)(_.takeWhile(_ != VersionId.Separator))

  /** Whether this can be what `later` started from. */
  def isBaseOf(later: VersionId): Boolean =
    number == later.number - 1 && later.id.fold(id.isEmpty)(_.endsWith(s"-$attempt"))

  /** The next version, as another attempt at it.
    *
    * @param newAttempt
    *   the name of that attempt, where attempts have ids
    */
  def next(newAttempt: Option[UUID]): VersionId = VersionId(
    number + 1,
    newAttempt.map(name => s"${name.toString.replace("-", "")}${VersionId.Separator}$attempt"))

  override def toString: String = id.fold(s"$number")(id => s"$number (checkpoint id $id)")
}

private[holdfast] object VersionId {
  private val Separator = '-'
  private val NoBase = "none"

  /** What ids look like in file names. */
  val IdPattern: String = s"[0-9a-f]{32}-(?:[0-9a-f]{32}|$NoBase)"
}

package io.holdfast.checkpoint

import org.scalacheck.Gen

import io.holdfast.testkit.{Change, Put, Remove}

/** Scripts of what a query and its failures do to a store. */
object StoreScript {

  sealed trait Step

  /** A batch on the newest version. */
  final case class Batch(changes: List[Change], end: End) extends Step

  /** The batch that made the version `age` versions ago, with the same changes, as a retried task
    * does it.
    */
  final case class SameAgain(age: Int) extends Step

  /** Another batch in the place of those after the version `age` versions ago, as a query that was
    * restarted from an older batch does it.
    */
  final case class Rewind(age: Int, changes: List[Change]) extends Step

  /** A look at the version `age` versions ago. */
  final case class Look(age: Int) extends Step

  case object Maintain extends Step
  case object Reopen extends Step

  sealed trait End
  case object Commit extends End
  case object CommitWithSnapshot extends End
  case object Abort extends End

  private val name: Gen[String] = Gen.frequency(
    12 -> Gen.choose(0, 7).map(n => s"k$n"),
    1 -> Gen.oneOf("", "a name that does not fit into one word", null))

  private val note: Gen[String] =
    Gen.oneOf(Gen.const(null), Gen.const(""), Gen.choose(1, 300).map("n" * _))

  private val change: Gen[Change] = Gen.frequency(
    3 -> Gen.zip(name, Gen.choose(-9L, 9L), note).map((Put.apply _).tupled),
    2 -> name.map(Remove(_)))

  private val changes: Gen[List[Change]] = Gen.choose(0, 12).flatMap(Gen.listOfN(_, change))

  private val age: Gen[Int] = Gen.choose(0, 5)

  private val step: Gen[Step] = Gen.frequency(
    10 -> changes.map(Batch(_, Commit)),
    1 -> changes.map(Batch(_, CommitWithSnapshot)),
    2 -> changes.map(Batch(_, Abort)),
    2 -> age.map(SameAgain(_)),
    1 -> Gen.zip(age, changes).map((Rewind.apply _).tupled),
    3 -> age.map(Look(_)),
    3 -> Gen.const(Maintain),
    2 -> Gen.const(Reopen))

  val scripts: Gen[List[Step]] = Gen.choose(1, 25).flatMap(Gen.listOfN(_, step))
}

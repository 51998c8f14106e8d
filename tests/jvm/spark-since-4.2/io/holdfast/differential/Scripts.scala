package io.holdfast.differential

import org.scalacheck.{Gen, Shrink}

import io.holdfast.testkit.Provider

/** Random scripts: most of them short, with few keys, so that the same keys come again and again. */
object Scripts {

  private val settings: Gen[Settings] = for {
    codec <- Gen.oneOf(Provider.codecs)
    prefixKeys <- Gen.oneOf(true, false)
    rowChecksums <- Gen.oneOf(true, false)
    minDeltas <- Gen.choose(0, 4)
    retained <- Gen.choose(1, 4)
    inMemory <- Gen.choose(0, 3)
  } yield Settings(codec, prefixKeys, rowChecksums, minDeltas, retained, inMemory)

  private val group: Gen[String] = Gen.oneOf("g", "h", "a group of more than one word", "", null)

  private val name: Gen[String] = Gen.frequency(
    12 -> Gen.choose(0, 5).map(n => s"k$n"),
    1 -> Gen.oneOf("", "a name that does not fit into one word", null))

  private val key: Gen[Key] = Gen.zip(group, name).map((Key.apply _).tupled)

  private val note: Gen[String] =
    Gen.frequency(4 -> Gen.oneOf("", "n", null), 1 -> Gen.choose(1, 300).map("n" * _))

  private val value: Gen[Value] = Gen.zip(Gen.choose(-9L, 9L), note).map((Value.apply _).tupled)

  private def operation(prefixKeys: Boolean): Gen[Operation] = {
    val point = Seq[(Int, Gen[Operation])](
      12 -> Gen.zip(key, value).map((Put.apply _).tupled),
      8 -> key.map(Remove(_)),
      3 -> key.map(Get(_)),
      2 -> Gen.const(Iterate),
      1 -> Gen.const(RemoveOdd))
    val groups = Seq[(Int, Gen[Operation])](
      4 -> group.map(Scan(_)),
      2 -> Gen.zip(group, few(2)(name), value).map((Replace.apply _).tupled))
    val possible = if (prefixKeys) point ++ groups else point
    Gen.frequency(possible: _*)
  }

  private def operations(prefixKeys: Boolean): Gen[List[Operation]] = few(10)(operation(prefixKeys))

  private val age: Gen[Int] = Gen.choose(0, 5)

  private def attempt(prefixKeys: Boolean): Gen[Attempt] = for {
    opening <- Gen.oneOf(Opening.ForWriting, Opening.AfterReading, Opening.Upgraded)
    operations <- operations(prefixKeys)
    commits <- Gen.frequency(5 -> true, 1 -> false)
  } yield Attempt(opening, operations, commits)

  private def step(prefixKeys: Boolean): Gen[Step] = {
    val attempts = Gen
      .frequency(6 -> 1, 2 -> 2, 1 -> 3)
      .flatMap(Gen.listOfN(_, attempt(prefixKeys)))
    val withSnapshot = Gen.frequency(10 -> false, 1 -> true)
    Gen.frequency(
      14 -> Gen.zip(attempts, withSnapshot).map((Batch.apply _).tupled),
      2 -> age.map(SameAgain(_)),
      1 -> Gen.zip(age, operations(prefixKeys)).map((Rewind.apply _).tupled),
      3 -> age.map(Look(_)),
      4 -> Gen.const(Maintain),
      3 -> Gen.oneOf(true, false).map(Reopen(_)))
  }

  private def few[A](most: Int)(each: Gen[A]): Gen[List[A]] =
    Gen.choose(0, most).flatMap(Gen.listOfN(_, each))

  val all: Gen[Script] = for {
    chosen <- settings
    length <- Gen.frequency(8 -> Gen.choose(1, 8), 1 -> Gen.choose(9, 30))
    steps <- Gen.listOfN(length, step(chosen.prefixKeys))
  } yield Script(chosen, steps)

  /** The same with fewer steps, and then with fewer operations in one step. */
  val shrink: Shrink[Script] = Shrink.withLazyList { script =>
    fewer(script.steps)(fewerOperations).map(steps => script.copy(steps = steps))
  }

  private def fewerOperations(step: Step): LazyList[Step] = step match {
    case Batch(attempts, withSnapshot) =>
      fewer(attempts)(attempt =>
        fewer(attempt.operations)(_ => LazyList.empty)
          .map(operations => attempt.copy(operations = operations)))
        .filter(_.nonEmpty)
        .map(Batch(_, withSnapshot))
    case Rewind(age, operations) => fewer(operations)(_ => LazyList.empty).map(Rewind(age, _))
    case _ => LazyList.empty
  }

  /** A list without one half, without the other, without one element, and with a smaller one. */
  private def fewer[A](list: List[A])(smaller: A => LazyList[A]): LazyList[List[A]] = {
    val (first, second) = list.splitAt(list.size / 2)
    val halves = if (list.size < 3) LazyList.empty else LazyList(first, second)
    val places = LazyList.from(list.indices)
    halves #:::
      places.map(at => list.patch(at, Nil, 1)) #:::
      places.flatMap(at => smaller(list(at)).map(list.updated(at, _)))
  }
}

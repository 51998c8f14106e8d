package io.holdfast.testkit

import scala.util.Random

import org.scalacheck.rng.Seed
import org.scalacheck.util.Pretty
import org.scalacheck.{Prop, Test}
import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

/** Random tests that name their seed, so that a failure can be run again: `HOLDFAST_SEED=<seed>`. */
trait SeededTests { this: AnyFunSuite =>

  /** A test that draws from one source of random numbers. */
  protected def seeded(name: String)(body: Random => Any): Unit =
    test(name)(body(new Random(chosenSeed())))

  /** A test that a property holds for `runs` generated inputs; a failing input is shrunk.
    *
    * @param threads
    *   how many look for one at the same time
    */
  protected def property(name: String, runs: Int, threads: Int = 1, tags: Seq[Tag] = Nil)(
      prop: => Prop): Unit =
    test(name, tags: _*) {
      val parameters = Test.Parameters.default
        .withMinSuccessfulTests(runs)
        .withWorkers(threads)
        .withInitialSeed(Seed(chosenSeed()))
      val result = Test.check(parameters, prop)
      assert(result.passed, Pretty.pretty(result))
    }

  private def chosenSeed(): Long = {
    val seed = sys.env.get("HOLDFAST_SEED").fold(System.nanoTime())(_.toLong)
    info(s"HOLDFAST_SEED=$seed")
    seed
  }
}

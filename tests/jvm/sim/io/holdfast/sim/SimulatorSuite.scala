package io.holdfast.sim

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.sim.run.{Defect, History}

/** The simulator finds what is wrong, says the same of a seed each time, and finds nothing wrong with
  * Holdfast.
  */
class SimulatorSuite extends AnyFunSuite {
  import SimulatorSuite._

  test("a seed gives one history, bit for bit") {
    (1L to 150L).foreach { seed =>
      val first = History.of(seed)
      val second = History.of(seed)
      assert(first.hash == second.hash, s"- seed $seed")
      assert(first.operations == second.operations)
    }
  }

  test("a history starts no thread") {
    (1L to 30L).foreach(History.of(_))
    val before = threads
    (1L to 150L).foreach(History.of(_))
    assert((threads -- before).isEmpty)
  }

  test("seeds give histories of their own") {
    assert((1L to 50L).map(History.of(_).hash).distinct.size == 50)
  }

  for ((defect, most) <- Defect.all.zip(MostSeeds)) {
    test(s"the planted defect ${defect.name} is found within $most histories") {
      val found = (1L to most.toLong).find(History.of(_, Some(defect)).failure.isDefined)
      info(s"found by seed ${found.getOrElse("none")}")
      assert(found.isDefined)
    }
  }

  test("an executor that dies at any operation on files loses nothing") {
    CrashedSeeds.foreach { seed =>
      val operations = History.of(seed).operations
      (1L to operations).foreach { operation =>
        val outcome = History.of(seed, crashAt = Some(operation))
        assert(outcome.failure.isEmpty, s"- seed $seed, crash at operation $operation")
      }
    }
  }

  test("no version is lost or wrong in all histories that there is time for") {
    val end = System.nanoTime() + BudgetNanos
    var seed = FirstSeed
    while (System.nanoTime() < end) {
      val outcome = History.of(seed)
      assert(outcome.failure.isEmpty, s"- replay it with ./dev sim --seed $seed")
      seed += 1
    }
    info(s"${seed - FirstSeed} histories")
  }
}

object SimulatorSuite {

  private def threads: Set[String] =
    Thread.getAllStackTraces.keySet.asScala
      .map(thread => s"${thread.getId} ${thread.getName}")
      .toSet

  /** Within how many histories each of [[Defect.all]] is found: about four times what it takes. */
  private val MostSeeds: Seq[Int] = Seq(100, 2000, 2000, 200, 200)

  private val CrashedSeeds = Seq(3L, 8L)

  private val FirstSeed = 1L
  private val BudgetNanos = 40L * 1000 * 1000 * 1000
}

package io.holdfast.sim

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.file.StateFile
import io.holdfast.sim.families.FamilyFileContent
import io.holdfast.sim.run.{Defect, FamilyDefect, History}
import io.holdfast.sim.world.SimRandom

/** The simulator finds what is wrong, says the same of a seed each time, and finds nothing wrong with
  * Holdfast.
  */
class SimulatorSuite extends AnyFunSuite {
  import SimulatorSuite._

  test("a seed gives one history, bit for bit, and none that another gives") {
    val hashes = (1L to 50L).map { seed =>
      val first = History.of(seed)
      val second = History.of(seed)
      assert(first.hash == second.hash, s"- seed $seed")
      assert(first.operations == second.operations)
      first.hash
    }
    assert(hashes.distinct.size == hashes.size)
  }

  test("histories that are simulated at the same time are what they are alone") {
    val seeds = (1L to 60L).toVector
    val alone = seeds.map(History.of(_).hash)
    val together = new Array[Long](seeds.size)
    val threads = Vector(0, 1).map { first =>
      new Thread(() =>
        for (i <- first until seeds.size by 2) together(i) = History.of(seeds(i)).hash)
    }
    threads.foreach(_.start())
    threads.foreach(_.join())
    assert(together.toVector == alone)
  }

  test("a history starts no thread") {
    (1L to 20L).foreach(History.of(_))
    val before = threads
    (1L to 50L).foreach(History.of(_))
    assert((threads -- before).isEmpty)
  }

  for ((defect, most) <- Defect.all.zip(MostSeeds)) {
    test(s"the planted defect ${defect.name} is found within $most histories") {
      val found = (1L to most.toLong).find(History.of(_, Some(defect)).failure.isDefined)
      info(s"found by seed ${found.getOrElse("none")}")
      assert(found.isDefined)
    }
  }

  test("what plants defects in the files of column families changes nothing else") {
    val seeds = (1L to 40L).filter(History.of(_).plan.families.isDefined).take(10)
    assert(seeds.size == 10)
    for (kind <- Seq(StateFile.Delta, StateFile.Snapshot); seed <- seeds) {
      val again = new FamilyDefect("written-again", kind) {
        override protected def changed(
            content: FamilyFileContent,
            random: SimRandom): FamilyFileContent = content.copy()
      }
      assert(History.of(seed, Some(again)).failure.isEmpty, s"- seed $seed, ${kind.word}s")
    }
  }

  test("an executor that dies at any operation on files loses nothing") {
    val shortest = (1L to 50L)
      .map(History.of(_))
      .filter(_.operations > 40)
      .groupBy(history => (history.plan.format, history.plan.families.isDefined))
    assert(shortest.size == 4)
    for {
      history <- shortest.values.map(_.minBy(_.operations))
      operation <- 1L to history.operations
    } {
      val outcome = History.of(history.seed, crashAt = Some(operation))
      assert(outcome.failure.isEmpty, s"- ./dev sim --seed ${history.seed} --crash-at $operation")
    }
  }

  test(s"no version is lost or wrong in $Histories histories with more than $LeastFaults faults") {
    val totals = new Totals
    (1L to Histories).foreach { seed =>
      val outcome = History.of(seed)
      assert(outcome.failure.isEmpty, s"- replay it with ./dev sim --seed $seed")
      totals.add(outcome)
    }
    info(s"${totals.faults} operations on files failed, ${totals.crashes} processes died")
    assert(totals.faults > LeastFaults)
  }
}

object SimulatorSuite {

  private def threads: Set[String] =
    Thread.getAllStackTraces.keySet.asScala
      .map(thread => s"${thread.getId} ${thread.getName}")
      .toSet

  /** Within how many histories each of [[Defect.all]] is found: about four times what it takes. */
  private val MostSeeds: Seq[Int] = Seq(50, 50, 50, 50, 50, 50, 50, 50, 50, 50)

  private val Histories = 3000L
  private val LeastFaults = 10000L
}

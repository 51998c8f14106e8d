package io.holdfast.races

import org.jetbrains.lincheck.datastructures.{
  ManagedStrategyGuarantee,
  ManagedStrategyGuaranteeKt,
  ModelCheckingOptions
}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.memory.MemoryOperations
import io.holdfast.races.Scenario.call
import io.holdfast.store.{ClosingOperations, ClosingResults, StoreOperations, StoreResults}
import io.holdfast.surroundings.{BesideOperations, BesideResults}
import io.holdfast.table.TurnOperations
import io.holdfast.versions.{InMemoryOperations, InUseOperations, InUseResults}

/** The classes of the product whose calls may come together, in short scenarios that Lincheck draws. It
  * decides which thread goes on wherever one touches what others see, and holds the results against
  * those of some order in which the calls come one after the other.
  */
class LincheckSuite extends AnyFunSuite {
  import LincheckSuite._

  attacks.foreach { attack =>
    test(attack.claim) {
      val rounds = Budget.rounds(ShareOfLincheck / attacks.size) { round =>
        SeededScenarios.round = round
        options(attack).check(attack.operations)
      }
      info(s"$rounds rounds")
    }
  }
}

private object LincheckSuite {

  /** What is looked at, and what is claimed of it.
    *
    * @param results
    *   what the operations return when they come one after the other
    * @param scenarios
    *   those that are looked at first
    */
  final private case class Attack(
      claim: String,
      operations: Class[_],
      results: Class[_],
      scenarios: Scenario*) {

    /** Whether it is a whole store, of whose parts not all are looked at. */
    def isStore: Boolean = operations.getPackageName == "io.holdfast.store"
  }

  private val PatienceMillis = 15L * 60 * 1000

  // The rest is for jcstress.
  private val ShareOfLincheck = 0.7

  private val attacks = Seq(
    Attack(
      "who asks for a version in memory sees what was kept last",
      classOf[InMemoryOperations],
      classOf[InMemoryOperations],
      Scenario(
        before = Seq(call("put", 1, 0)),
        first = Seq(call("put", 2, 0), call("get", 2, 0)),
        second = Seq(call("put", 2, 1), call("contains", 1, 0)),
        after = Seq(call("get", 2, 0), call("get", 2, 1), call("latest")))),
    Attack(
      "just the versions are counted that are in memory or in use",
      classOf[InUseOperations],
      classOf[InUseResults],
      Scenario(
        before = Seq(call("publish", 0)),
        first = Seq(call("begin", 0)),
        second = Seq(call("publish", 1)))),
    Attack(
      "the limit refuses what has no room, and nothing else",
      classOf[MemoryOperations],
      classOf[MemoryOperations],
      Scenario(
        before = Seq(call("firstHolds", 6)),
        first = Seq(call("secondMay", 6), call("secondAllocates", 3)),
        second = Seq(call("firstHolds", 7), call("firstEnds")),
        after = Seq(call("counted")))),
    Attack(
      "both parts of a commit are done once, and nobody does anything of it afterwards",
      classOf[BesideOperations],
      classOf[BesideResults],
      Scenario(first = Seq(call("both", false, false)), second = Seq(call("work"))),
      Scenario(first = Seq(call("both", true, false)), second = Seq(call("work")))),
    Attack(
      "one thread at a time is inside a transaction",
      classOf[TurnOperations],
      classOf[TurnOperations],
      Scenario(first = Seq(call("turn"), call("turn")), second = Seq(call("turn"), call("turn")))),
    Attack(
      "a version that is opened holds what was committed last, whatever goes on in its store",
      classOf[StoreOperations],
      classOf[StoreResults],
      // The version before is in memory, so the commit need not wait for the load.
      Scenario(
        before = Seq(call("read", 3)),
        first = Seq(call("commit", 4, 50, true)),
        second = Seq(call("read", 4)),
        after = Seq(call("read", 4))),
      Scenario(
        before = Seq(call("commit", 4, 50, true)),
        first = Seq(call("commit", 4, 60, false)),
        second = Seq(call("work")),
        after = Seq(call("read", 4)))),
    Attack(
      "a store that is closed at any moment counts nothing, writes nothing, and is whole in its files",
      classOf[ClosingOperations],
      classOf[ClosingResults],
      Scenario(
        first = Seq(call("commit", true), call("work")),
        second = Seq(call("close")),
        after = Seq(call("read")))))

  // A moment has room for the scenarios that were thought of.
  private def options(attack: Attack): ModelCheckingOptions = {
    val (scenarios, invocations) = (attack.isStore, Budget.minutes.isDefined) match {
      case (false, false) => (0, 50)
      case (true, false) => (0, 100)
      case (false, true) => (10, 300)
      case (true, true) => (4, 100)
    }
    val options = new ModelCheckingOptions()
      .iterations(scenarios)
      .invocationsPerIteration(invocations)
      .threads(2)
      .actorsPerThread(if (attack.isStore) 2 else 3)
      .actorsBefore(1)
      .actorsAfter(1)
      .executionGenerator(classOf[SeededScenarios])
      .sequentialSpecification(attack.results)
      // To change a class may take long where others work as well; locks that wait for each other it sees.
      .invocationTimeout$lincheck(PatienceMillis)
      .addGuarantee(passesOver(if (attack.isStore) others ++ parts else others))
    attack.scenarios.foldLeft(options)((options, scenario) =>
      options.addCustomScenario(scenario.of(attack.operations)))
  }

  private def passesOver(prefixes: Seq[String]): ManagedStrategyGuarantee =
    ManagedStrategyGuaranteeKt
      .forClasses(name => java.lang.Boolean.valueOf(prefixes.exists(name.startsWith(_))))
      .allMethods()
      .ignore()

  private val others =
    Seq("org.apache.", "net.jpountz.", "org.slf4j.", "com.google.", "scala.util.matching.")

  // What changes nothing that others see, or is looked at for itself.
  private val parts = Seq(
    "io.holdfast.table.",
    "io.holdfast.file.",
    "io.holdfast.memory.",
    "io.holdfast.metrics.",
    "io.holdfast.conf.",
    "io.holdfast.rows.",
    "io.holdfast.surroundings.",
    "io.holdfast.checkpoint.ReadAhead",
    "io.holdfast.checkpoint.SharedCodecs",
    "scala.collection.",
    "java.util.",
    "io.holdfast.checkpoint.StateFileListing",
    "io.holdfast.checkpoint.Chain",
    "io.holdfast.checkpoint.HoldfastCommand",
    "io.holdfast.store.StoreFailures",
    "io.holdfast.store.QuietStore")
}

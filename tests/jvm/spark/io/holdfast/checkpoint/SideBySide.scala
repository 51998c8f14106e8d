package io.holdfast.checkpoint

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state.StateStore

import io.holdfast.checkpoint.StoreScript._
import io.holdfast.testkit.{Change, Provider, TestRows, TestStore}

/** Runs a script on Spark's provider and on Holdfast, each in a folder of its own, beside a plain map
  * for every version.
  */
object SideBySide {

  /** What differs, in a sentence, or nothing. */
  def firstDifference(settings: Provider, script: List[Step]): Option[String] = {
    val both = settings.retained(RetainedVersions)
    TestStore.use(both.by(Provider.Spark)) { spark =>
      TestStore.use(both.by(Provider.Holdfast)) { holdfast =>
        new Run(spark, holdfast).difference(script)
      }
    }
  }

  private val RetainedVersions = 3

  final private class Run(spark: TestStore, holdfast: TestStore) {
    private val both = Seq(spark, holdfast)
    private val states = mutable.Map[Long, TestRows.State](0L -> Map.empty)
    private val batches = mutable.Map[Long, List[Change]]()
    private var newest = 0L

    // The files of older versions may have been cleaned up.
    private var oldestKept = 0L

    // Versions of an abandoned future whose files still lie in the folders.
    private var abandoned = 0L

    def difference(script: List[Step]): Option[String] =
      script.iterator.zipWithIndex
        .flatMap { case (step, at) => run(step).map(what => s"step $at, $step: $what") }
        .nextOption()
        .orElse(readByTheOther())

    private def run(step: Step): Option[String] = step match {
      case Batch(changes, end) => batch(newest, changes, end)
      case SameAgain(age) if newest > oldestReadable =>
        val version = older(age).min(newest - 1)
        batch(version, batches(version + 1), Commit)
      case SameAgain(_) => None
      case Rewind(age, changes) => rewind(older(age), changes)
      case Look(age) =>
        val version = older(age)
        compare(s"version $version", _.state(version), states(version))
      case Maintain =>
        // A snapshot of an abandoned version would outlive the version that takes its place.
        if (newest >= abandoned) {
          both.foreach(_.provider.doMaintenance())
          oldestKept = oldestReadable
        }
        None
      case Reopen =>
        both.foreach(_.reopen())
        None
    }

    private def batch(version: Long, changes: List[Change], end: End): Option[String] = {
      val stores = both.map(_.write(version, forceSnapshot = end == CommitWithSnapshot))
      val expected = changes.foldLeft(states(version))((state, change) => change.applyTo(state))
      val difference = change(stores, states(version), changes)
        .orElse(compareStores("its rows", stores)(TestRows.state(_), expected))
        .orElse(compareStores("its key count", stores)(_.metrics.numKeys, expected.size.toLong))
      if (end == Abort) stores.foreach(_.abort())
      else {
        stores.foreach(_.commit())
        states(version + 1) = expected
        batches(version + 1) = changes
        newest = newest.max(version + 1)
      }
      difference
    }

    private def change(
        stores: Seq[StateStore],
        before: TestRows.State,
        changes: List[Change]): Option[String] = {
      var state = before
      changes.iterator
        .flatMap { change =>
          stores.foreach(change.applyTo(_))
          state = change.applyTo(state)
          val key = TestRows.key(change.name)
          compareStores(s"the row after $change", stores)(
            store => Option(store.get(key)).map(TestRows.valueImage(_)),
            state.get(TestRows.keyImage(key)))
        }
        .nextOption()
    }

    // Neither provider takes back a snapshot that another run wrote of a version that is replaced,
    // since Spark replaces versions by the same content only.
    private def rewind(version: Long, changes: List[Change]): Option[String] =
      if (both.exists(_.fileNames.exists(isSnapshotAfter(version, _)))) None
      else {
        abandoned = abandoned.max(newest)
        newest = version
        batch(version, changes, Commit)
      }

    private def isSnapshotAfter(version: Long, fileName: String): Boolean = fileName match {
      case s"$number.snapshot" => number.toLong > version
      case _ => false
    }

    private def readByTheOther(): Option[String] =
      (oldestReadable.max(1L) to newest).iterator
        .flatMap { version =>
          for {
            files <- both
            reader <- Seq(Provider.Spark, Provider.Holdfast)
            found = files.stateFromFiles(version, reader)
            if found != states(version)
          } yield s"$reader reads version $version of ${files.settings.className} as " +
            s"$found and not as ${states(version)}"
        }
        .nextOption()

    private def older(age: Int): Long = (newest - age).max(oldestReadable)

    private def oldestReadable: Long = oldestKept.max(newest - RetainedVersions)

    private def compare[A](what: String, of: TestStore => A, expected: A): Option[String] =
      compareAll(what, both.map(of), expected)

    private def compareStores[A](what: String, stores: Seq[StateStore])(
        of: StateStore => A,
        expected: A): Option[String] = compareAll(what, stores.map(of), expected)

    private def compareAll[A](what: String, found: Seq[A], expected: A): Option[String] =
      found.zip(both).collectFirst {
        case (answer, store) if answer != expected =>
          s"${store.settings.className} has $answer as $what, expected $expected"
      }
  }
}

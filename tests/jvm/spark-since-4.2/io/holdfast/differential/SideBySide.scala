package io.holdfast.differential

import java.nio.file.Path

import scala.collection.mutable
import scala.util.{Try, Using}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.holdfast.differential.Rows.State
import io.holdfast.testkit.{Provider, StoreCalls, TemporaryFolder, TestStore}

/** Runs a script on Spark's provider and on Holdfast, each in a folder of its own, beside a plain map
  * for every version.
  */
object SideBySide {

  /** What differs, in a sentence, or nothing. */
  def firstDifference(script: Script): Option[String] = TemporaryFolder.use { root =>
    val run = new SideBySide(script.settings, Seq("one", "other").map(root.resolve))
    try run.difference(script.steps)
    finally run.close()
  }
}

private final class SideBySide(settings: Settings, folders: Seq[Path]) {
  private val classes = Seq(Provider.Spark, Provider.Holdfast)
  private var both =
    folders.zip(classes).map { case (folder, className) => open(folder, className) }

  private val states = mutable.Map[Long, State](0L -> Map.empty)
  private val batches = mutable.Map[Long, List[Operation]]()
  private var newest = 0L

  // The files of older versions may have been cleaned up.
  private var oldestKept = 0L

  // Whether tasks have worked with the providers: Holdfast does nothing for stores that nobody uses.
  private var used = false

  // Versions of an abandoned future whose files still lie in the folders.
  private var abandoned = 0L

  def difference(steps: List[Step]): Option[String] =
    steps.iterator.zipWithIndex
      .flatMap { case (step, at) =>
        run(step).orElse(differentFiles).map(what => s"step $at, $step: $what")
      }
      .nextOption()
      .orElse(recovery())

  def close(): Unit = both.foreach(_.close())

  private def open(folder: Path, className: String): TestStore =
    new TestStore(settings.provider.by(className), folder)

  private def run(step: Step): Option[String] = step match {
    case Batch(attempts, withSnapshot) => batch(newest, attempts, withSnapshot)
    case SameAgain(age) if newest > oldestReadable =>
      val version = older(age).min(newest - 1)
      again(version, batches(version + 1))
    case SameAgain(_) => None
    case Rewind(age, operations) => rewind(older(age), operations)
    case Look(age) =>
      val version = older(age)
      used = true
      compare(s"version $version", both.map(rowsOf(_, version)), states(version))
    case Maintain =>
      // A snapshot of an abandoned version would outlive the version that takes its place.
      if (used && newest >= abandoned) {
        both.foreach(_.provider.doMaintenance())
        oldestKept = oldestReadable
      }
      None
    case Reopen(swapped) =>
      close()
      used = false
      val by = both.map(_.settings.className)
      both = folders.zip(if (swapped) by.reverse else by).map((open _).tupled)
      None
  }

  private def batch(
      version: Long,
      attempts: List[Attempt],
      withSnapshot: Boolean): Option[String] = {
    used = true
    val tasks = attempts.map(new Task(version, _, withSnapshot))
    val turns = tasks.map(_.attempt.operations.size).maxOption.getOrElse(0)
    val work = (0 until turns).iterator.flatMap(turn => tasks.flatMap(_.take(turn)))
    work.nextOption().orElse(tasks.iterator.flatMap(_.end()).nextOption())
  }

  private def again(version: Long, operations: List[Operation]): Option[String] =
    batch(version, List(Attempt(Opening.ForWriting, operations, commits = true)), false)

  // Neither provider takes back a snapshot that another run wrote of a version that is replaced,
  // since Spark replaces versions by the same content only.
  private def rewind(version: Long, operations: List[Operation]): Option[String] =
    if (both.exists(_.fileNames.exists(isSnapshotAfter(version, _)))) None
    else {
      abandoned = abandoned.max(newest)
      newest = version
      again(version, operations)
    }

  private def isSnapshotAfter(version: Long, fileName: String): Boolean = fileName match {
    case s"$number.snapshot" => number.toLong > version
    case _ => false
  }

  /** A task on each provider, and what it does to the map. */
  private final class Task(version: Long, val attempt: Attempt, withSnapshot: Boolean) {
    private val stores = both.map(open)
    private var expected = states(version)

    /** Does an operation, if there are so many. */
    def take(turn: Int): Option[String] = attempt.operations.lift(turn).flatMap { operation =>
      val (after, shown) = operation.on(expected)
      expected = after
      compare(s"what it shows of $operation", stores.map(operation.on), shown)
    }

    def end(): Option[String] = {
      val difference = compare("its rows", stores.map(Iterate.on), expected)
        .orElse(wrongKeyCount)
      if (attempt.commits) {
        stores.foreach(_.commit())
        both.foreach(_.awaitSnapshots())
        states(version + 1) = expected
        batches(version + 1) = attempt.operations
        newest = newest.max(version + 1)
      } else stores.foreach(_.abort())
      difference
    }

    // Spark's provider would measure its whole map, and be no witness but of itself.
    private def wrongKeyCount: Option[String] =
      both.zip(stores).collectFirst {
        case (test, store)
            if test.settings.className == Provider.Holdfast &&
              store.metrics.numKeys != expected.size =>
          s"Holdfast counts ${store.metrics.numKeys} keys, expected ${expected.size}"
      }

    private def open(test: TestStore): StateStore = attempt.opening match {
      case Opening.ForWriting => test.write(version, withSnapshot)
      case Opening.AfterReading =>
        val read = test.read(version)
        val store = test.write(version, withSnapshot)
        read.release()
        store
      case Opening.Upgraded =>
        val read = test.read(version)
        StoreCalls.upgrade(test.provider, read, version, withSnapshot)
    }
  }

  // The providers differ in when they delete what no promised version is read from.
  private def differentFiles: Option[String] = {
    val found = both.map(store => store.fileNames.filter(versionOf(_) >= oldestReadable))
    Option.when(found.distinct.size > 1) {
      both
        .zip(found)
        .map { case (store, names) => s"${store.settings.className} has ${names.mkString(" ")}" }
        .mkString("of the files ", ", ", "")
    }
  }

  private def versionOf(fileName: String): Long = fileName.takeWhile(_.isDigit).toLong

  /** New providers of both classes find the same in a folder, version by version: the rows, or the
    * error that Spark has for what is not there. The promised versions are in both folders.
    */
  private def recovery(): Option[String] = {
    val versions = 1L to newest.max(abandoned) + 1
    folders.iterator
      .flatMap { folder =>
        val found = classes.map { className =>
          Using.resource(open(folder, className))(files => versions.map(recovered(files, _)))
        }
        versions.iterator.zipWithIndex.flatMap { case (version, at) =>
          val byBoth = found.map(_(at))
          val isPromised = version >= oldestReadable && version <= newest
          if (byBoth.distinct.size != 1) {
            Some(s"version $version is, for one provider and the other, $byBoth")
          } else {
            Option.when(isPromised && byBoth.head != Right(states(version)))(
              s"version $version is for both ${byBoth.head}, expected ${states(version)}")
          }
        }
      }
      .nextOption()
  }

  // Of a version whose own file is missing, Spark's contract suite wants one condition from Spark's
  // default provider and another from all others.
  private def recovered(store: TestStore, version: Long): Either[String, State] =
    Try(rowsOf(store, version)).toEither.left.map {
      case spark: SparkThrowable =>
        spark.getCondition.replace(
          "CANNOT_READ_STREAMING_STATE_FILE",
          "CANNOT_READ_DELTA_FILE_NOT_EXISTS")
      case other => throw other
    }

  private def rowsOf(store: TestStore, version: Long): State = {
    val read = store.read(version)
    try Rows.state(read.iterator())
    finally read.release()
  }

  private def older(age: Int): Long = (newest - age).max(oldestReadable)

  private def oldestReadable: Long = oldestKept.max(newest - settings.retained).max(0L)

  private def compare[A](what: String, found: Seq[A], expected: A): Option[String] =
    found.zip(both).collectFirst {
      case (answer, store) if answer != expected =>
        s"${store.settings.className} has $answer as $what, expected $expected"
    }
}

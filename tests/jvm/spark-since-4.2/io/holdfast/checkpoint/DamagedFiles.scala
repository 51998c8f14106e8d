package io.holdfast.checkpoint

import org.apache.spark.SparkThrowable
import org.scalatest.Assertions._

import io.holdfast.file.StateFileException
import io.holdfast.testkit.{Provider, Put, Remove, TestRows, TestStore}

/** A store with small files to damage, and what has to come of it. */
object DamagedFiles {

  /** The files that version 2 can be read from: its chain of deltas, or its snapshot. */
  sealed abstract class Source(val damaged: String)
  case object Deltas extends Source("2.delta")
  case object Snapshot extends Source("2.snapshot")

  val sources: Seq[Source] = Seq(Deltas, Snapshot)

  def use[A](settings: Provider, source: Source)(body: TestStore => A): A =
    TestStore.use(settings) { store =>
      store.commit(0, Put("a", 1, "first"), Put("b", 2), Put("c", 3))
      if (source == Snapshot) store.commitWithSnapshot(1, Remove("b"), Put("d", 4, "note"))
      else store.commit(1, Remove("b"), Put("d", 4, "note"))
      body(store)
    }

  /** What became of reading version 2. */
  sealed trait Outcome
  final case class Read(state: TestRows.State) extends Outcome
  final case class Refused(error: Throwable) extends Outcome

  /** Reads version 2 from the files, with `bytes` in the place of the damaged one. Whatever comes of
    * it, an error is one of Spark's that names the file, and neither files nor memory have changed.
    */
  def outcome(store: TestStore, source: Source, bytes: Array[Byte]): Outcome = {
    store.overwrite(source.damaged, bytes)
    store.reopen()
    val before = store.files
    val outcome =
      try Read(store.state(2))
      catch { case error: Throwable => Refused(error) }
    outcome match {
      case Refused(error) =>
        assertNames(error, source.damaged)
        assert(store.versionsInMemory.isEmpty)
      case Read(_) =>
    }
    assert(store.files == before)
    outcome
  }

  /** Fails unless an error is Spark's for a state that cannot be loaded, and says in which byte of
    * which file the trouble is. A first row that cannot be one of the store is left to Spark's own
    * check, which speaks of the store.
    */
  def assertNames(error: Throwable, file: String): Unit = {
    val condition = error match {
      case spark: SparkThrowable => spark.getCondition
      case _ => fail(s"expected one of Spark's errors, found $error", error)
    }
    assert(condition.startsWith("CANNOT_LOAD_STATE_STORE."))
    if (!condition.endsWith("_ROW_FORMAT_VALIDATION_FAILURE")) {
      val said = causes(error).collectFirst { case e: StateFileException => e }
      assert(
        said.exists(_.file.name.endsWith(s"/$file")),
        s"- in ${causes(error).mkString(" by ")}")
      assert(said.exists(_.getMessage.contains("damaged at byte")))
    }
    ()
  }

  private def causes(error: Throwable): Iterator[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null)
}

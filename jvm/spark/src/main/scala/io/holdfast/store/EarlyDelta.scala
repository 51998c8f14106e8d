package io.holdfast.store

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

import io.holdfast.checkpoint.{StateFileOutput, StateFiles, VersionId}
import io.holdfast.file.StateFile
import io.holdfast.surroundings.Beside
import io.holdfast.table.{Changes, EarlyRows, WrittenRows}

/** The delta of a batch that changes much: another thread writes it while the batch goes on, so that a
  * commit finds most of it written. For the task's thread.
  *
  * Spark's provider writes a delta while rows are put, too (`HDFSBackedStateStore.put`, all lines). Here
  * each key is written once; so as soon as the batch replaces or removes a row that may have been
  * written, the file is given up, and the commit writes another one.
  *
  * @param id
  *   the version that a commit makes
  */
final private[store] class EarlyDelta(files: StateFiles, id: VersionId, beside: Beside)
    extends EarlyRows
    with Logging {
  import EarlyDelta._

  // Until they are worth a file and a thread.
  private[this] var waiting = Vector.empty[WrittenRows]
  private[this] var bytes = 0L
  private[this] var isOver = false
  private[this] var begun = Option.empty[Begun]

  override def filled(rows: WrittenRows): Unit = begun match {
    case Some(delta) => delta.add(rows)
    case None if !isOver =>
      waiting :+= rows
      bytes += rows.bytes
      if (beside.isWorth(bytes)) begin()
    case None =>
  }

  override def void(): Unit = giveUp()

  /** What was begun, of which the caller takes care from now on. */
  def take(): Option[Begun] = {
    val taken = begun
    begun = None
    isOver = true
    waiting = Vector.empty
    taken
  }

  /** Makes sure that no file appears, and that nobody writes one any more. Idempotent. */
  def giveUp(): Unit = take().foreach(_.cancel())

  // What fails here may succeed in the commit, and is the commit's failure if it does not.
  private[this] def begin(): Unit = {
    val first = waiting
    waiting = Vector.empty
    isOver = true
    try {
      val delta = new Begun(files.create(StateFile.Delta, id), beside.newLine())
      try first.foreach(delta.add)
      catch {
        case e: Throwable =>
          delta.cancel()
          throw e
      }
      begun = Some(delta)
    } catch { case NonFatal(e) => logDebug(s"The delta of version $id was not begun early", e) }
  }
}

private[store] object EarlyDelta {

  /** A delta that has been begun. */
  final class Begun(val output: StateFileOutput, line: Beside.Line) {

    def add(rows: WrittenRows): Unit = line.add(() => rows.foreach(output.records))

    /** Writes the rest while the task does its own part, as [[Beside.both]] does. */
    def endWith[A](changes: Changes)(own: => A): A =
      line.endWith(() => changes.foreachLate(output.records))(own)

    def cancel(): Unit = {
      line.giveUp()
      output.cancel()
    }
  }
}

package io.holdfast.checkpoint

import java.io.{IOException, OutputStream}
import java.util.zip.{CRC32, CheckedOutputStream}

import scala.util.control.NonFatal

import org.apache.hadoop.fs.FSError
import org.apache.spark.internal.Logging
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CancellableFSDataOutputStream

import io.holdfast.file.{BlockOutput, FamilyFile, FamilyRecordWriter, RecordWriter, StateFile}
import io.holdfast.table.Version

/** A delta or snapshot file that is being written. For one thread.
  *
  * @param families
  *   what a file of a store with column families says of itself in front
  */
private[holdfast] final class StateFileOutput(
    raw: CancellableFSDataOutputStream,
    codec: CompressionCodec,
    rowChecksums: Boolean,
    families: Option[(StateFile.Kind, FamilyFile)])
    extends Logging {
  private val checked = new CheckedOutputStream(raw, new CRC32)
  private val blocks = families.map { case (kind, file) =>
    FamilyFile.write(checked, kind, file)
    new BlockOutput(checked)
  }
  private val file = new Unclosed(blocks.getOrElse[OutputStream](checked))
  private val compressed = codec.compressedOutputStream(file)

  private val ofFamilies = blocks.map(_ => new FamilyRecordWriter(compressed, rowChecksums))

  val records: RecordWriter = ofFamilies.getOrElse(new RecordWriter(compressed, rowChecksums))

  /** Begins a snapshot of a version whose rows follow. */
  def begin(version: Version): Unit = ofFamilies.foreach(_.begin(version))

  /** Bytes written to the file system so far. */
  def fileBytes: Long = raw.getPos

  /** What tells the file, when it is finished, from that of another attempt. */
  def written: KnownDelta = KnownDelta.Written(raw.getPos, checked.getChecksum.getValue)

  /** Makes the file appear under its name. */
  def finish(): Unit = {
    records.finish()
    compressed.close()
    file.throwIfFailed()
    blocks.foreach(_.finish())
    raw.close()
  }

  /** Makes sure that the file does not appear. Never throws what is not fatal.
    *
    * What the file system cannot cancel is no reason to leave the codec open: that of zstd keeps memory
    * outside the heap until it is closed.
    */
  def cancel(): Unit = {
    quietly("Cancelling a state file failed")(raw.cancel())
    quietly("Closing a cancelled state file failed")(compressed.close())
  }

  private def quietly(sentence: String)(body: => Unit): Unit =
    try body
    catch {
      // The codec flushes into a stream that is closed by now; Hadoop's local file systems wrap
      // that failure in an error of their own.
      case e: FSError if e.getCause.isInstanceOf[IOException] =>
      case _: InterruptedException => Thread.currentThread.interrupt()
      case NonFatal(e) => logDebug(sentence, e)
    }
}

/** A stream that closing leaves open. Codecs close what they write to also when they could not write
  * all of it, and to close a file is to let it appear.
  *
  * It remembers what failed as well: a codec that writes in threads of its own may pass over it, as
  * Spark's of lzf does from 4.0 on ([[SharedCodecs]]) over what is no `Exception`, such as the `FSError` of
  * Hadoop's local file systems.
  */
private final class Unclosed(out: OutputStream) extends OutputStream {
  @volatile private[this] var failed = Option.empty[Throwable]

  override def write(byte: Int): Unit = noticing(out.write(byte))
  override def write(bytes: Array[Byte], offset: Int, length: Int): Unit =
    noticing(out.write(bytes, offset, length))
  override def flush(): Unit = noticing(out.flush())

  /** Throws what has failed, whether or not anybody took notice. */
  def throwIfFailed(): Unit = failed.foreach(throw _)

  private[this] def noticing(body: => Unit): Unit =
    try body
    catch {
      case e: Throwable =>
        if (failed.isEmpty) failed = Some(e)
        throw e
    }
}

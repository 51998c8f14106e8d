package io.holdfast.sim.disk

import java.io.{ByteArrayOutputStream, FileNotFoundException, IOException, OutputStream}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{
  FSDataInputStream,
  FileAlreadyExistsException,
  FileStatus,
  Path,
  PathFilter
}
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.{
  CancellableFSDataOutputStream,
  CheckpointFileManager
}

import io.holdfast.sim.world.{Process, Storage}

/** The files of the simulated disk, as one process sees them. What a file system does with a file that is
  * written follows [[Storage]]; when that fails, and what happens in between, is said by [[DiskEvents]].
  * For one thread.
  */
final class SimFileManager(disk: Disk, storage: Storage, process: Process, events: DiskEvents)
    extends CheckpointFileManager {
  import SimFileManager._

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream = {
    val target = pathOf(path)
    opening("create", target) {
      if (storage == Storage.InPlace) {
        if (!overwriteIfPossible) refuseExisting(target)
        put(target, Array.emptyByteArray)
        new Output(target, None, new Sink(target, Some(target)), overwriteIfPossible = true)
      } else if (storage != Storage.Objects) {
        val temporary =
          s"${folderOf(target)}/.${nameOf(target)}.${process.name}.${events.number()}.tmp"
        put(temporary, Array.emptyByteArray)
        new Output(target, Some(temporary), new Sink(target, Some(temporary)), overwriteIfPossible)
      } else new Output(target, None, new Sink(target, None), overwriteIfPossible)
    }
  }

  override def open(path: Path): FSDataInputStream = {
    val name = pathOf(path)
    opening("open", name) {
      val file = disk.get(name).getOrElse(throw new FileNotFoundException(s"$name is not there"))
      new FSDataInputStream(new SimInput(name, file, process, events))
    }
  }

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = {
    val folder = pathOf(path)
    effect("list", folder) {
      if (!disk.hasFolder(folder)) throw new FileNotFoundException(s"$folder is not there")
      val late = events.lateMillis
      val found =
        if (late == 0) disk.in(folder)
        else disk.inAsOfLate(folder, events.millis - late, () => events.isLate())
      found.asScala.iterator
        .map { case (name, file) =>
          new FileStatus(
            file.bytes.length.toLong,
            false,
            1,
            BlockBytes,
            file.modifiedMillis,
            disk.hadoopPath(name))
        }
        .filter(status => filter.accept(status.getPath))
        .toArray
    }
  }

  override def mkdirs(path: Path): Unit =
    effect("mkdirs", pathOf(path))(disk.makeFolder(pathOf(path)))

  override def exists(path: Path): Boolean =
    effect("exists", pathOf(path))(disk.get(pathOf(path)).isDefined || disk.hasFolder(pathOf(path)))

  override def delete(path: Path): Unit = {
    val name = pathOf(path)
    effect("delete", name) {
      if (events.deletes(name)) {
        val _ = disk.remove(name, events.millis)
        if (events.deletesTooMuch) next(name).foreach(disk.remove(_, events.millis))
      }
    }
  }

  private def next(name: String): Iterable[String] = {
    val numbers =
      disk.in(folderOf(name)).keySet.asScala.toVector.collect { case path @ Numbered(number) =>
        number.toLong -> path
      }
    name match {
      case Numbered(number) => numbers.collect { case (n, path) if n == number.toLong + 1 => path }
      case _ => Nil
    }
  }

  override def isLocal: Boolean = false

  override def createCheckpointDirectory(): Path =
    throw new UnsupportedOperationException("stores make no checkpoint")

  // Whose answer is lost, nobody has a stream to close.
  private def opening[A](what: String, path: String)(body: => A): A =
    try {
      events.before(process, what, path)
      body
    } catch {
      case e: Throwable =>
        process.couldNotOpen(path)
        throw e
    }

  private def effect[A](what: String, path: String)(body: => A): A = {
    events.before(process, what, path)
    val done = body
    events.after(process, what, path)
    done
  }

  private def refuseExisting(path: String): Unit =
    if (disk.get(path).isDefined) throw new FileAlreadyExistsException(s"$path is there already")

  private def put(path: String, bytes: Array[Byte]): Unit =
    disk.put(path, new SimFile(bytes, events.millis))

  /** Bytes that are on their way into a file. */
  final private class Sink(target: String, temporary: Option[String]) extends OutputStream {
    val bytes = new ByteArrayOutputStream

    override def write(byte: Int): Unit = bytes.write(byte)

    override def write(written: Array[Byte], offset: Int, length: Int): Unit = {
      val mayTear = process.isAlive
      try events.before(process, "write", target)
      catch {
        case e: Throwable =>
          if (mayTear) append(written, offset, events.torn(length))
          throw e
      }
      append(written, offset, length)
    }

    // What has a name grows under it.
    private def append(written: Array[Byte], offset: Int, length: Int): Unit = {
      bytes.write(written, offset, length)
      temporary.filter(disk.get(_).isDefined).foreach(put(_, bytes.toByteArray))
    }
  }

  final private class Output(
      target: String,
      temporary: Option[String],
      sink: Sink,
      overwriteIfPossible: Boolean)
      extends CancellableFSDataOutputStream(sink) {
    private var ended = false
    private val handle = events.number()
    process.opened(handle, s"write $target")

    // Once begun it does not begin anew, however it ends, as in Spark's managers.
    override def close(): Unit = if (end()) {
      val bytes = events.written(target, sink.bytes.toByteArray)
      temporary match {
        case None => appear(target, bytes)
        case Some(temporary) =>
          effect("flush", temporary)(put(temporary, bytes))
          if (overwriteIfPossible && storage == Storage.RenamesInTwoSteps &&
            disk.get(target).isDefined) {
            effect("unlink", target)(disk.remove(target, events.millis))
          }
          events.before(process, "rename", target)
          if (!overwriteIfPossible && disk.get(target).isDefined) {
            disk.remove(temporary, events.millis)
            refuseExisting(target)
          }
          if (disk.remove(temporary, events.millis)) {
            if (events.appears(target)) put(target, bytes)
            events.appeared(process, target)
          } else throw new IOException(s"$temporary is gone")
          events.after(process, "rename", target)
      }
    }

    private def appear(target: String, bytes: Array[Byte]): Unit =
      effect("upload", target) {
        if (!overwriteIfPossible) refuseExisting(target)
        if (events.appears(target)) put(target, bytes)
        events.appeared(process, target)
      }

    override def cancel(): Unit = if (end()) {
      if (storage == Storage.InPlace) { val _ = disk.remove(target, events.millis) }
      temporary.foreach(name => effect("cancel", name)(disk.remove(name, events.millis)))
    }

    private def end(): Boolean = {
      val first = !ended
      if (first) {
        ended = true
        process.closed(handle)
      }
      first
    }
  }
}

object SimFileManager {
  private val Numbered = raw".*/(\d+)[_.][^/]*".r
  private val BlockBytes = 1L << 27

  def pathOf(path: Path): String = path.toUri.getPath
  def folderOf(path: String): String = path.substring(0, path.lastIndexOf('/'))
  def nameOf(path: String): String = path.substring(path.lastIndexOf('/') + 1)
}

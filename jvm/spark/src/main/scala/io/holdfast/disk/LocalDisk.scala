package io.holdfast.disk

import java.io.{FileOutputStream, OutputStream}
import java.nio.channels.{ClosedByInterruptException, FileChannel}
import java.nio.file.{FileAlreadyExistsException, Files, Path}
import java.nio.file.StandardCopyOption.{ATOMIC_MOVE, REPLACE_EXISTING}
import java.nio.file.StandardOpenOption.READ
import java.nio.file.attribute.BasicFileAttributes

import scala.util.control.NonFatal

/** What is done to names and files on a local disk. When power is lost, bytes of a file are there
  * that were forced, and names that were made, changed or removed before their folder was forced; of
  * the rest anything may be there, or not.
  *
  * Any thread may call.
  */
private[holdfast] trait LocalDisk {
  import LocalDisk._

  /** Makes a file, or empties it. */
  def create(file: Path): Output

  /** Gives a file another name, at once, in place of a file that has it. */
  def move(from: Path, to: Path): Unit

  /** Gives a file a second name.
    *
    * @throws java.nio.file.FileAlreadyExistsException
    *   if there is a file of that name
    */
  def link(name: Path, file: Path): Unit

  /** @return whether it was there */
  def delete(file: Path): Boolean

  def exists(path: Path): Boolean

  /** Makes a folder in one that is there, unless it is there. */
  def makeFolder(folder: Path): Unit

  /** Waits until the disk has the names in a folder.
    *
    * @throws java.io.IOException
    *   if it fails, or if this is not possible here
    */
  def force(folder: Path): Unit

  /** What tells a file from another that takes its name, if there is a file and that can be known. */
  def identity(file: Path): Option[AnyRef]
}

private[holdfast] object LocalDisk {

  /** Writes a file. For one thread. */
  abstract class Output extends OutputStream {

    /** Waits until the disk has all that was written. */
    def force(): Unit
  }

  /** The disk of this machine. */
  object OfMachine extends LocalDisk {

    override def create(file: Path): Output = new MachineOutput(new FileOutputStream(file.toFile))

    override def move(from: Path, to: Path): Unit = {
      val _ = Files.move(from, to, ATOMIC_MOVE, REPLACE_EXISTING)
    }

    override def link(name: Path, file: Path): Unit = {
      val _ = Files.createLink(name, file)
    }

    // To ask first is much quicker than the exception that a missing file would be inside Java.
    override def delete(file: Path): Boolean = exists(file) && Files.deleteIfExists(file)

    override def exists(path: Path): Boolean = path.toFile.exists()

    override def makeFolder(folder: Path): Unit =
      try { val _ = Files.createDirectory(folder) }
      catch { case _: FileAlreadyExistsException if Files.isDirectory(folder) => }

    override def force(folder: Path): Unit = uninterrupted {
      val channel = FileChannel.open(folder, READ)
      try channel.force(true)
      finally channel.close()
    }

    override def identity(file: Path): Option[AnyRef] =
      try Option(Files.readAttributes(file, classOf[BasicFileAttributes]).fileKey())
      catch { case NonFatal(_) => None }
  }

  // Java closes a channel when its thread is interrupted, as those of tasks and queries are.
  private def uninterrupted(body: => Unit): Unit = {
    var interrupted = false
    var done = false
    try
      while (!done) {
        interrupted |= Thread.interrupted()
        try {
          body
          done = true
        } catch { case _: ClosedByInterruptException => interrupted = true }
      }
    finally if (interrupted) Thread.currentThread().interrupt()
  }

  final private class MachineOutput(file: FileOutputStream) extends Output {
    override def write(byte: Int): Unit = file.write(byte)
    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit =
      file.write(bytes, offset, length)
    override def force(): Unit = file.getFD.sync()
    override def close(): Unit = file.close()
  }
}

package io.holdfast.files

import java.io.ByteArrayOutputStream
import java.nio.file.{FileAlreadyExistsException, Files, NoSuchFileException, Path}

import scala.collection.mutable

import io.holdfast.disk.LocalDisk

/** A disk that tells, for each moment in its past, everything that may be on it if power was lost
  * then: of each file all bytes that were forced, and of the others none, half or all; of the changes
  * of names in a folder all before it was last forced, and any of those since.
  *
  * For one thread.
  *
  * @param forcesFiles
  *   whether it does force bytes; without, it is a disk that lies
  * @param forcesFolders
  *   the same of names
  */
final class PowerLossDisk(forcesFiles: Boolean = true, forcesFolders: Boolean = true)
    extends LocalDisk {
  import PowerLossDisk._

  private[this] val done = mutable.ArrayBuffer.empty[Operation]
  private[this] var now: Names = Map.empty
  private[this] var nextFile = 0

  /** How many operations there were. */
  def moments: Int = done.size

  /** Everything that may be there when power is lost after so many operations. */
  def afterLossAt(moment: Int): Iterator[Names] = {
    val past = done.take(moment).toVector
    val changes = past.zipWithIndex.collect { case (change: Change, at) => change -> at }
    val (sure, unsure) = changes.partition { case (change, at) =>
      past.drop(at).contains(ForceFolder(change.folder))
    }
    val unsureAt = unsure.map(_._2)
    for {
      applied <- unsureAt.toSet.subsets()
      names = changes
        .filter { case (_, at) => applied(at) || sure.exists(_._2 == at) }
        .foldLeft(Map.empty: Names) { case (names, (change, _)) => change(names) }
      // A name in a folder that is not there is not there.
      reachable = names.filter { case (path, _) => isReachable(path, names) }
      lengths <- choices(reachable.values.collect { case File(id) => id }.toVector.distinct, past)
    } yield reachable.map {
      case (path, File(id)) => path -> Content(written(id, past).take(lengths(id)).toVector)
      case other => other
    }
  }

  private def isReachable(path: Path, names: Map[Path, Entry]): Boolean =
    path.getParent.getNameCount == 0 ||
      (names.get(path.getParent).contains(Folder) && isReachable(path.getParent, names))

  private def choices(files: Vector[Int], past: Seq[Operation]): Iterator[Map[Int, Int]] =
    files.foldLeft(Iterator(Map.empty[Int, Int])) { (chosen, file) =>
      val all = written(file, past).length
      val forced = past.lastIndexOf(ForceFile(file)) match {
        case -1 => 0
        case at => written(file, past.take(at)).length
      }
      val lengths = Seq(forced, (forced + all) / 2, all).distinct
      chosen.flatMap(some => lengths.map(length => some + (file -> length)))
    }

  private def written(file: Int, past: Seq[Operation]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    past.foreach {
      case Write(`file`, more) => bytes.write(more.toArray)
      case _ =>
    }
    bytes.toByteArray
  }

  override def create(file: Path): LocalDisk.Output = {
    val id = nextFile
    nextFile += 1
    change(Bind(file, File(id)))
    new LocalDisk.Output {
      override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)
      override def write(bytes: Array[Byte], offset: Int, length: Int): Unit =
        done += Write(id, bytes.slice(offset, offset + length).toVector)
      override def force(): Unit = if (forcesFiles) done += ForceFile(id)
    }
  }

  override def move(from: Path, to: Path): Unit =
    change(Move(from, to, now.getOrElse(from, throw new NoSuchFileException(from.toString))))

  override def link(name: Path, file: Path): Unit = {
    if (exists(name)) throw new FileAlreadyExistsException(name.toString)
    change(Bind(name, now(file)))
  }

  override def delete(file: Path): Boolean = {
    val there = exists(file)
    if (there) change(Unbind(file))
    there
  }

  override def exists(path: Path): Boolean = path.getNameCount == 0 || now.contains(path)

  override def makeFolder(folder: Path): Unit = if (!exists(folder)) change(Bind(folder, Folder))

  override def force(folder: Path): Unit = if (forcesFolders) done += ForceFolder(folder)

  override def identity(file: Path): Option[AnyRef] = now.get(file)

  private def change(change: Change): Unit = {
    require(exists(change.folder), s"${change.folder} is not there")
    done += change
    now = change(now)
  }
}

object PowerLossDisk {

  /** What is under each name. */
  type Names = Map[Path, Entry]

  sealed trait Entry
  case object Folder extends Entry
  private final case class File(id: Int) extends Entry

  /** A file after power was lost. */
  final case class Content(bytes: Vector[Byte]) extends Entry

  /** Makes a folder what is below another one here. */
  def write(names: Names, below: Path, to: Path): Unit =
    names.toSeq.sortBy(_._1.toString).foreach {
      case (path, Content(bytes)) if path.startsWith(below) =>
        val _ = Files.write(to.resolve(below.relativize(path).toString), bytes.toArray)
      case (path, Folder) if path.startsWith(below) =>
        val _ = Files.createDirectories(to.resolve(below.relativize(path).toString))
      case _ =>
    }

  private sealed trait Operation
  private final case class Write(file: Int, bytes: Vector[Byte]) extends Operation
  private final case class ForceFile(file: Int) extends Operation
  private final case class ForceFolder(folder: Path) extends Operation

  private sealed trait Change extends Operation {
    def path: Path
    def folder: Path = path.getParent
    def apply(names: Names): Names
  }

  private final case class Bind(path: Path, entry: Entry) extends Change {
    override def apply(names: Names): Names = names + (path -> entry)
  }

  private final case class Unbind(path: Path) extends Change {
    override def apply(names: Names): Names = names - path
  }

  private final case class Move(from: Path, path: Path, entry: Entry) extends Change {
    override def apply(names: Names): Names = names - from + (path -> entry)
  }
}

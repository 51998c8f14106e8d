package io.holdfast.sim.disk

import java.util

import scala.collection.mutable

import org.apache.hadoop.fs.Path

import io.holdfast.sim.world.SimRandom

/** A file as it is: its bytes never change, for whoever has opened it goes on reading them. */
final class SimFile(val bytes: Array[Byte], val modifiedMillis: Long) {

  /** The same without its end. */
  def cut(length: Int): SimFile = new SimFile(bytes.take(length), modifiedMillis)
}

/** The files of all processes, by path. For one thread. */
final class Disk {
  private[this] val files = mutable.Map.empty[String, util.TreeMap[String, SimFile]]
  private[this] val folders = mutable.Set.empty[String]
  // What was before, for listings that come late.
  private[this] val changes = mutable.ArrayBuffer.empty[Change]

  // To make one takes as long as all else that a listing does with a file.
  private[this] val hadoopPaths = mutable.Map.empty[String, Path]

  /** A path as Hadoop has it. */
  def hadoopPath(path: String): Path = hadoopPaths.getOrElseUpdate(path, new Path(path))

  def get(path: String): Option[SimFile] = Option(around(path).get(path))

  def hasFolder(path: String): Boolean = folders(path)

  def makeFolder(path: String): Unit = {
    val _ = folders.add(path)
  }

  def put(path: String, file: SimFile): Unit = {
    val before = around(path).put(path, file)
    changes += new Change(path, Option(before), file.modifiedMillis)
  }

  /** @return whether it was there */
  def remove(path: String, millis: Long): Boolean = {
    val before = around(path).remove(path)
    if (before != null) changes += new Change(path, Some(before), millis)
    before != null
  }

  /** The files in a folder by path, in the order of their names, but not those in folders of it. Whoever
    * keeps it sees what changes.
    */
  def in(folder: String): util.SortedMap[String, SimFile] =
    files.getOrElseUpdate(folder, new util.TreeMap)

  // The folder that a file is in.
  private[this] def around(path: String): util.SortedMap[String, SimFile] =
    in(path.substring(0, path.lastIndexOf('/')))

  /** The files in a folder as a listing shows that does not know all of the latest changes.
    *
    * @param since
    *   changes before are known, in milliseconds since 1970
    * @param isMissed
    *   asked for each change since
    */
  def inAsOfLate(
      folder: String,
      since: Long,
      isMissed: () => Boolean): util.SortedMap[String, SimFile] = {
    val shown = new util.TreeMap(in(folder))
    changes.reverseIterator.takeWhile(_.millis >= since).foreach { change =>
      if (change.path.lastIndexOf('/') == folder.length && change.path.startsWith(folder) &&
        isMissed()) {
        set(shown, change.path, change.before)
      }
    }
    shown
  }

  /** Loses power: what was changed lately may be as before, and the end of a file may be missing. Each
    * file for itself, for nobody says in which order a disk writes.
    *
    * @param since
    *   changes before are written, in milliseconds since 1970
    */
  def forget(since: Long, random: SimRandom): Unit = {
    val unsure = changes.filter(_.millis >= since).groupBy(_.path).toVector.sortBy(_._1)
    unsure.foreach { case (path, changed) =>
      val kept = random.between(0, changed.size)
      if (kept < changed.size) set(around(path), path, changed(kept).before)
      get(path).filter(_.modifiedMillis >= since && random.chance(0.3)).foreach { file =>
        val _ = around(path).put(path, file.cut(random.between(0, file.bytes.length)))
      }
    }
    changes.clear()
  }

  private[this] def set(
      files: util.SortedMap[String, SimFile],
      path: String,
      file: Option[SimFile]): Unit = {
    val _ = file.fold(files.remove(path))(files.put(path, _))
  }
}

private final class Change(val path: String, val before: Option[SimFile], val millis: Long)

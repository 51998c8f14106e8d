package io.holdfast.sim.world

import scala.collection.mutable

/** A store of the query: a partition of its operator, by name. */
final case class StoreKey(partition: Int, name: String) {

  /** Its folder, as Spark lays it out. */
  val folder: String =
    s"${StoreKey.Root}/0/$partition${if (name == "default") "" else s"/$name"}"

  /** The name of a version's file, without suffix. */
  def file(version: Long, id: Option[String]): String =
    s"$folder/$version${id.fold("")(id => s"_$id")}"
}

object StoreKey {
  val Root = "/checkpoint/state"
}

/** What is true of a query: the logs that its drivers write, one at a time, and what each version holds.
  *
  * A version holds what the attempt put whose files lie in the folder: of several that write the same file,
  * the last. Whether it counts is said by the commit log.
  *
  * @param nothing
  *   what version 0 holds
  */
final class Model(nothing: Content) {
  private[this] val contents = mutable.Map.empty[String, Content]
  private[this] val planned = mutable.Map.empty[Long, Batch]
  private[this] val commits = mutable.ArrayBuffer.empty[Map[StoreKey, Option[String]]]
  // What was promised when the query was set back: older versions may have gone by then.
  private[this] var oldestLeft = 1L

  /** Versions that the commit log has: those up to this one. */
  def newest: Long = commits.size.toLong

  /** The oldest version that is promised. */
  def oldestPromised(retained: Int): Long = math.max(oldestLeft, newest + 1 - retained)

  /** The id of a committed version, if versions have ids. */
  def id(store: StoreKey, version: Long): Option[String] =
    if (version == 0) None else commits(version.toInt - 1)(store)

  /** What a version holds; nothing if no file of it has ever appeared. */
  def content(store: StoreKey, version: Long, id: Option[String]): Option[Content] =
    if (version == 0) Some(nothing) else contents.get(store.file(version, id))

  def appeared(file: String, content: Content): Unit = contents(file) = content

  /** The plan of a batch, which the offset log has from when it is first asked for. */
  def plan(number: Long)(make: => Batch): Batch = planned.getOrElseUpdate(number, make)

  /** Writes the commit log, which refuses a batch that is there.
    *
    * @return whether it is this commit that counts
    */
  def commit(number: Long, ids: Map[StoreKey, Option[String]]): Boolean = {
    val first = number == commits.size
    if (first) commits += ids
    first
  }

  /** Gives up all batches after a version that is promised, or after none at all, so that others are
    * planned in their place. Their files stay.
    */
  def setBack(version: Long, retained: Int): Unit = {
    oldestLeft = oldestPromised(retained)
    commits.dropRightInPlace((newest - version).toInt)
    planned.filterInPlace((number, _) => number < version)
    ()
  }

  /** Writes an entry of the commit log that is there.
    *
    * @return whether it says something else now
    */
  def overwrite(number: Long, ids: Map[StoreKey, Option[String]]): Boolean = {
    val before = commits(number.toInt)
    commits(number.toInt) = ids
    before != ids
  }
}

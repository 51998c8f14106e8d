package io.holdfast.sim.families

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair

import io.holdfast.sim.world.{FamilyKind, Key, Rows, Value}

/** What a walk over rows of a column family shows, in its order. For one thread. */
final class Shown(kind: FamilyKind, rows: Rows) {
  // The values of a key come one after the other.
  private[this] val keys = mutable.ArrayBuffer.empty[Key]
  private[this] val values = mutable.ArrayBuffer.empty[Vector[Value]]
  private[this] var problem = Option.empty[String]

  /** Takes notice of a row.
    *
    * @return
    *   its key
    */
  def add(pair: UnsafeRowPair): Key = {
    val key = Rows.keyOf(pair.key)
    if (!rows.isValue(pair.value, kind.wide) && problem.isEmpty) {
      problem = Some(s"a value of other columns for $key")
    }
    val value = Rows.valueOf(pair.value)
    if (keys.lastOption.contains(key)) values(values.size - 1) :+= value
    else {
      keys += key
      values += Vector(value)
    }
    key
  }

  def addAll(pairs: Iterator[UnsafeRowPair]): this.type = {
    pairs.foreach(pair => add(pair): Unit)
    this
  }

  /** What is different from the rows that are to be shown, in words. */
  def difference(expected: Map[Key, Vector[Value]]): Option[String] =
    problem
      .orElse(ofRows(expected))
      .orElse(if (kind.scan.inOrder) ofTimes(keys) else None)
      .orElse(if (kind.scan.hasGroups) ofGroups else None)

  private[this] def ofRows(expected: Map[Key, Vector[Value]]): Option[String] = {
    var rest = expected
    val wrong = keys.indices.find { i =>
      val differs = !rest.get(keys(i)).contains(values(i))
      rest -= keys(i)
      differs
    }
    wrong
      .map(i => s"${keys(i)} -> ${values(i)}, expected ${expected.get(keys(i))}, once")
      .orElse(rest.headOption.map { case (key, values) => s"no $key, expected $values" })
  }

  private[this] def ofTimes(keys: collection.Seq[Key]): Option[String] =
    keys.indices
      .drop(1)
      .find(i => keys(i).id < keys(i - 1).id)
      .map(i => s"${keys(i)} behind ${keys(i - 1)}, expected them in the order of their times")

  private[this] def ofGroups: Option[String] = {
    val begins = keys.indices.filter(i => i == 0 || keys(i).group != keys(i - 1).group)
    val groups = begins.map(keys(_).group)
    if (groups.distinct.size != groups.size)
      Some(s"the groups ${groups.mkString(", ")}, expected each in one place")
    else if (kind.scan.hasRanges)
      keys.groupBy(_.group).valuesIterator.flatMap(ofTimes(_)).nextOption()
    else None
  }
}

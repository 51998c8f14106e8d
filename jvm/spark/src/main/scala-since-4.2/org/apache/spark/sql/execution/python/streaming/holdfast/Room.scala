package org.apache.spark.sql.execution.python.streaming.holdfast

import java.util.{ArrayList => JavaList}

import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.python.EvaluatePython
import org.apache.spark.unsafe.types.VariantVal

/** How much of the state of many keys one answer may still have, in bytes of memory, about.
  *
  * While there is room a value goes, however large; of a list or a map all goes, or nothing. What finds no
  * room is asked for when it is needed, as Spark's client asks for everything.
  */
final private class Room(private var left: Long) {

  /** Returns the values of a row, null for no row, [[Room.NotSent]] where there is no room. */
  def one(form: RowForm)(row: => Row): AnyRef =
    if (left <= 0) Room.NotSent else taken(form.values(row))

  /** Returns what there is of a list or a map, [[Room.NotSent]] where there is no room for all of it. */
  def all[T](rows: => Iterator[T])(made: T => AnyRef): AnyRef =
    if (left <= 0) Room.NotSent
    else {
      val found = new JavaList[AnyRef]
      val each = rows
      while (left > 0 && each.hasNext) {
        val _ = found.add(taken(made(each.next())))
      }
      if (each.hasNext) Room.NotSent else found
    }

  private def taken(values: AnyRef): AnyRef = {
    left -= Room.bytesOf(values)
    values
  }
}

private object Room {

  /** Stands for what is there or not, and is not sent along. */
  val NotSent: java.lang.Boolean = java.lang.Boolean.FALSE

  // Of an object and what refers to it.
  private val ObjectBytes = 24

  /** Returns about how many bytes of memory a value takes that is to be pickled. */
  private def bytesOf(value: Any): Long =
    ObjectBytes + (value match {
      case text: String => text.length.toLong
      case bytes: Array[Byte] => bytes.length.toLong
      case wrapped: EvaluatePython.BytesWrapper => wrapped.data.length.toLong
      case values: Array[AnyRef] => bytesOfAll(values)
      case values: java.util.List[_] =>
        values.stream.mapToLong(value => bytesOf(value)).sum
      case values: java.util.Map[_, _] =>
        values.entrySet.stream
          .mapToLong(entry => bytesOf(entry.getKey) + bytesOf(entry.getValue))
          .sum
      case row: Row => (0 until row.length).iterator.map(at => bytesOf(row.get(at))).sum
      case variant: VariantVal => variant.getValue.length.toLong + variant.getMetadata.length
      case _ => 0L
    })

  private def bytesOfAll(values: Array[AnyRef]): Long = {
    var bytes, at = 0L
    while (at < values.length) {
      bytes += bytesOf(values(at.toInt))
      at += 1
    }
    bytes
  }
}

package io.holdfast.rows

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform

import io.holdfast.table.{EvictionCursor, MemoryUse, RowCursor, RowRecord, Rows}

/** Those rows of a store whose keys begin the keys of certain rows of another store, each once, in the
  * order in which they lie: of a side of a stream-stream join, the keys that have values which expired.
  *
  * They are all found when the walk is opened, so changes made later neither disturb it nor appear in
  * it. For one thread.
  */
final private[holdfast] class KeysOfRows private (
    pages: Array[Array[Byte]],
    offsets: Array[Int],
    memory: MemoryUse)
    extends RowCursor {
  private[this] var current = -1
  private[this] var count = offsets.length

  override def next(): Boolean = {
    val found = current + 1 < count
    if (found) current += 1 else close()
    found
  }

  override def page: Array[Byte] = pages(current)

  override def offset: Int = offsets(current)

  override def close(): Unit = {
    if (count > 0) memory.release(KeysOfRows.bytes(offsets.length))
    count = 0
  }
}

private[holdfast] object KeysOfRows {

  /** Opens a walk.
    *
    * @param keys
    *   the store that is walked over
    * @param keySchema
    *   the columns of its keys
    * @param rows
    *   rows of the other store, whose keys have one more column; read to its end
    * @param memory
    *   is told what the walk holds, and may refuse it
    * @return
    *   nothing if the key of one of the rows is not in the store, or if there is no memory for them
    */
  def open(
      keys: Rows,
      keySchema: StructType,
      rows: EvictionCursor,
      memory: MemoryUse): Option[KeysOfRows] = {
    val found = new KeysOfRows.Places(memory)
    try {
      val all = rows.next() == false || {
        val beginning = new Beginning(keySchema)
        var known = true
        do known = found.add(beginning.find(keys, rows)) while (known && rows.next())
        known
      }
      if (all) found.walk(keys) else None
    } finally {
      rows.close()
      found.close()
    }
  }

  private def bytes(count: Int): Long = count * 16L

  // Beyond that no array is twice as long.
  private val MostDoubled = 1 << 30

  /** Finds the key that a longer one begins with. */
  final private class Beginning(schema: StructType) {
    private[this] val projection = UnsafeProjection.create(schema.fields.toSeq.zipWithIndex.map {
      case (field, ordinal) => BoundReference(ordinal, field.dataType, nullable = true)
    })
    private[this] val longer = new UnsafeRow(schema.length + 1)
    private[this] val key = new RowBytes

    def find(keys: Rows, rows: RowCursor): Long = {
      longer.pointTo(
        rows.page,
        Platform.BYTE_ARRAY_OFFSET + RowRecord.keyOffset(rows.offset),
        RowRecord.keyLength(rows.page, rows.offset))
      key.set(projection(longer))
      keys.find(key.bytes, key.offset, key.length)
    }
  }

  /** Collects where rows lie. */
  final private class Places(memory: MemoryUse) extends AutoCloseable {
    private[this] var places = new Array[Long](16)
    private[this] var count = 0
    private[this] var held = 0L

    def add(row: Long): Boolean =
      row != Rows.Absent && (count < places.length || grows()) && {
        places(count) = Rows.place(row)
        count += 1
        true
      }

    private[this] def grows(): Boolean = {
      val more = count * 16L
      val granted = count < MostDoubled && memory.tryAllocate(more)
      if (granted) {
        held += more
        places = Arrays.copyOf(places, count * 2)
      }
      granted
    }

    def walk(keys: Rows): Option[KeysOfRows] = {
      val distinct = sortDistinct()
      if (!memory.tryAllocate(bytes(distinct))) None
      else {
        val pages = new Array[Array[Byte]](distinct)
        val offsets = new Array[Int](distinct)
        var i = 0
        while (i < distinct) {
          pages(i) = keys.page(places(i))
          offsets(i) = Rows.offset(places(i))
          i += 1
        }
        Some(new KeysOfRows(pages, offsets, memory))
      }
    }

    private[this] def sortDistinct(): Int = {
      Arrays.sort(places, 0, count)
      var distinct = 0
      var i = 0
      while (i < count) {
        if (i == 0 || places(i) != places(i - 1)) {
          places(distinct) = places(i)
          distinct += 1
        }
        i += 1
      }
      distinct
    }

    override def close(): Unit = memory.release(held)
  }
}

package io.holdfast.families

import org.apache.spark.sql.types.{LongType, StructType}

import io.holdfast.table.{Family, RowCursor, RowOrder, RowRecord, RowsByKey}

/** A walk over the timers of `transformWithState` in the order of their times. It reads some of them ahead,
  * and for each what its operator is about to ask for: the row of another family that says that the key
  * has this timer. Asked for one by one, each of those rows is waited for; read together, they wait for
  * memory about once.
  *
  * A key of the one family is the time and the user's key, a key of the other the user's key, which is a
  * struct, and the time: the same bytes but for two words, which have each other's place (Spark 4.2,
  * `TimerStateImpl`). Where it is otherwise, something else is read in vain. For one thread.
  *
  * @param timers
  *   the walk, which shows what there was when it was opened, however far it is read ahead
  * @param byKey
  *   the rows of the other family
  */
final private[holdfast] class TimersAhead(timers: RowCursor, byKey: RowsByKey) extends RowCursor {
  import TimersAhead._

  private[this] val pages = new Array[Array[Byte]](MostAhead)
  private[this] val offsets = new Array[Int](MostAhead)
  private[this] val hashes = new Array[Long](MostAhead)
  private[this] var key = new Array[Byte](64)
  private[this] var count = 0
  private[this] var current = -1
  // How many are read next: a few at first, since most walks are short.
  private[this] var ahead = LeastAhead

  // Written so that the reads of `fetch` have a result, and are not left out.
  private[this] var fetched = 0L

  override def next(): Boolean = {
    if (current + 1 < count) current += 1 else read()
    current < count
  }

  override def page: Array[Byte] = pages(current)

  override def offset: Int = offsets(current)

  override def close(): Unit = {
    timers.close()
    count = 0
  }

  private[this] def read(): Unit = {
    current = 0
    count = 0
    while (count < ahead && timers.next()) {
      pages(count) = timers.page
      offsets(count) = timers.offset
      hashes(count) = hashByKey(timers.page, timers.offset)
      count += 1
    }
    if (count > 0) fetched = byKey.fetch(hashes, count)
    ahead = math.min(2 * ahead, MostAhead)
  }

  private[this] def hashByKey(page: Array[Byte], offset: Int): Long = {
    val from = RowRecord.keyOffset(offset)
    val length = RowRecord.keyLength(page, offset)
    if (length > key.length) key = new Array[Byte](2 * length)
    System.arraycopy(page, from, key, 0, length)
    if (length >= SecondColumn + WordBytes) {
      System.arraycopy(page, from + FirstColumn, key, SecondColumn, WordBytes)
      System.arraycopy(page, from + SecondColumn, key, FirstColumn, WordBytes)
    }
    RowOrder.hash(key, 0, length)
  }
}

private[holdfast] object TimersAhead {
  private val LeastAhead = 4
  private val MostAhead = 32

  // Where the words of the two columns of an `UnsafeRow` are, behind the bits for nulls.
  private val WordBytes = 8
  private val FirstColumn = WordBytes
  private val SecondColumn = 2 * WordBytes

  private val TimesToKeys = "_timestampToKey"
  private val KeysToTimes = "_keyToTimestamp"

  /** The name of the family with the same timers by their keys, if a family has timers by their times. */
  def familyByKey(family: Family, keys: StructType): Option[String] =
    Option.when(
      family.isInternal && family.name.endsWith(TimesToKeys) && keys.length == 2 &&
        keys(0).dataType == LongType && keys(1).dataType.isInstanceOf[StructType])(
      family.name.stripSuffix(TimesToKeys) + KeysToTimes)
}

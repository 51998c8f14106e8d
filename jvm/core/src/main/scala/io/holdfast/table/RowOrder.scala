package io.holdfast.table

/** The order in which an [[OrderedIndex]] keeps rows: a fixed number of words for every key, compared
  * one after another as unsigned longs. Rows with equal words are neighbours.
  *
  * Any thread may call.
  */
trait RowOrder {

  /** Number of words, 1 or more. */
  def words: Int

  /** A new encoder, for one thread. */
  def newEncoder(): RowOrder.Encoder
}

object RowOrder {

  /** Computes the words of keys. For one thread. */
  trait Encoder {

    /** @param into
      *   receives the words, from position 0
      */
    def write(key: Array[Byte], keyOffset: Int, keyLength: Int, into: Array[Long]): Unit
  }

  /** A 64-bit hash of bytes that an order may use as a word where any order will do.
    *
    * @throws java.lang.IndexOutOfBoundsException
    *   if the array has no such bytes
    */
  def hash(bytes: Array[Byte], offset: Int, length: Int): Long = Bytes.hash(bytes, offset, length)

  /** Takes one more word into a hash. */
  def combine(hash: Long, word: Long): Long = Bytes.combine(hash, word)

  /** The long at an offset, in the byte order of the machine.
    *
    * @throws java.lang.IndexOutOfBoundsException
    *   if the array has no such bytes
    */
  def long(bytes: Array[Byte], offset: Int): Long = Bytes.getNativeLong(bytes, offset)

  /** Whether two arrays hold the same bytes at two places.
    *
    * @throws java.lang.IndexOutOfBoundsException
    *   if one of them has no such bytes
    */
  def equal(
      left: Array[Byte],
      leftOffset: Int,
      right: Array[Byte],
      rightOffset: Int,
      length: Int): Boolean = Bytes.equal(left, leftOffset, right, rightOffset, length)
}

package io.holdfast.table

/** What a bucket of the hash index holds for one row, packed into a long.
  *
  * {{{
  * | hash, 29 bits | page id, 20 bits | offset in the page / 8, 15 bits |
  * }}}
  *
  * The low 6 hash bits say where in its bucket a row belongs, the 23 above them choose the bucket.
  * A slot therefore says all that splitting and resizing buckets needs, without looking at the row.
  * Page ids start at 1, so 0 is never a row and stands for an empty slot.
  */
private[table] object Slot {
  val Empty = 0L

  val HashBits = 29
  val PlaceBits = 6
  val DirectoryBits: Int = HashBits - PlaceBits

  private val OffsetBits = 15
  private val PageBits = 20
  private val HashShift = PageBits + OffsetBits
  private val HashMask = (1L << HashBits) - 1

  /** The bits of page and offset. */
  val AddressMask: Long = (1L << HashShift) - 1

  /** The bits of the hash. */
  val TagMask: Long = ~AddressMask

  /** One more than the largest page id. */
  val MaxPages: Int = 1 << PageBits

  /** Largest page of many rows, in bytes: every offset in it has to fit. */
  val MaxPageBytes: Int = 8 << OffsetBits

  def apply(hash: Long, page: Int, offset: Int): Long =
    (hash & HashMask) << HashShift | page.toLong << OffsetBits | (offset >>> 3).toLong

  /** The hash bits of a slot, moved to where [[apply]] put them. */
  def tag(hash: Long): Long = (hash & HashMask) << HashShift

  def hasTag(slot: Long, tag: Long): Boolean = ((slot ^ tag) >>> HashShift) == 0

  def hash(slot: Long): Long = slot >>> HashShift

  /** Page and offset without the hash: two slots name the same row if their addresses are equal. */
  def address(slot: Long): Long = slot & AddressMask

  def page(slot: Long): Int = (slot >>> OffsetBits).toInt & (MaxPages - 1)

  def offset(slot: Long): Int = (slot.toInt & ((1 << OffsetBits) - 1)) << 3
}

package io.holdfast.table

import scala.collection.mutable

/** Walks a version and finds the first broken rule of its structure. O(rows). */
object TableInvariants {

  /** What is wrong with a version, in a sentence, or nothing. Any thread may call. */
  def firstViolation(version: Version): Option[String] = {
    val pages = new PageWalk(version.pages)
    version.tables.indices.iterator
      .flatMap(number => new TableWalk(version.tables(number), number, pages).firstViolation())
      .nextOption()
      .orElse(pages.firstViolation())
  }

  /** Adds up what the rows of all tables occupy. */
  private final class PageWalk(pages: RowPages) {
    val table: PageTable = pages.table
    private val liveOfPage = new Array[Long](pages.ids.end)
    private val addresses = mutable.HashSet.empty[Long]

    /** What is wrong with the place of a row. */
    def row(slot: Long, ofTable: Int): Option[String] = {
      val id = Slot.page(slot)
      val offset = Slot.offset(slot)
      val page = if (id < pages.ids.end) table.page(id) else null
      if (page == null) Some(s"table $ofTable points at page $id, which does not exist")
      else if (!recordsOf(id).contains(offset)) {
        Some(s"table $ofTable points at page $id offset $offset, where no record begins")
      } else if (RowRecord.table(page, offset) != ofTable) {
        Some(
          s"table $ofTable points at page $id offset $offset, where a row of table " +
            s"${RowRecord.table(page, offset)} is")
      } else {
        liveOfPage(id) += RowRecord.sizeAt(page, offset)
        Option
          .when(!addresses.add(Slot.address(slot)))(s"two slots point at page $id offset $offset")
      }
    }

    def page(slot: Long): Array[Byte] = table.pageOf(slot)

    def firstViolation(): Option[String] = {
      val existing = (1 until pages.ids.end).filter(table.page(_) != null)
      val wrong = existing.find(id => liveOfPage(id) != table.live(id).toLong)
      val held = existing.iterator.map(id => RowPages.bytes(table.page(id))).sum
      if (wrong.isDefined) {
        wrong.map(id => s"page $id counts ${table.live(id)} live bytes and has ${liveOfPage(id)}")
      } else if (liveOfPage.sum != pages.liveBytes) {
        Some(s"the pages count ${pages.liveBytes} live bytes and have ${liveOfPage.sum}")
      } else if (held != pages.pageBytes) {
        Some(s"the pages count ${pages.pageBytes} bytes and have $held")
      } else if (existing.size != pages.ids.count) {
        Some(s"the ids count ${pages.ids.count} pages and there are ${existing.size}")
      } else {
        val free = (1 until pages.ids.end).filter(table.page(_) == null)
        Option.when(free != pages.ids.free.toSeq)(
          s"page ids $free have no page and ${pages.ids.free} are free")
      }
    }

    private val records = mutable.HashMap.empty[Int, Set[Int]]

    // Where the records begin that lie one behind the other up to the page's end of records.
    private def recordsOf(id: Int): Set[Int] = records.getOrElseUpdate(
      id, {
        val page = table.page(id)
        Iterator
          .iterate(0)(offset => offset + RowRecord.sizeAt(page, offset))
          .takeWhile(_ < table.end(id))
          .toSet
      })
  }

  private final class TableWalk(table: Table, number: Int, pages: PageWalk) {
    private val index = table.index
    private val bucketsAtDepth = new Array[Int](index.bucketsAtDepth.length)
    private var rows = 0L
    private var indexBytes = HashIndex.segmentsBytes(index.segments)

    def firstViolation(): Option[String] = directory().orElse(totals()).orElse(ordered())

    private def directory(): Option[String] =
      (0 until 1 << index.depth).iterator.flatMap(entry).nextOption()

    private def entry(number: Int): Option[String] = {
      val bucket = HashIndex.bucketAt(index.segments, number)
      val depth = Bucket.depth(bucket)
      if (depth > index.depth) {
        Some(
          s"directory entry $number has a bucket of depth $depth in a directory of ${index.depth}")
      } else {
        val first = number & ((1 << depth) - 1)
        if (first != number) {
          Option.when(HashIndex.bucketAt(index.segments, first) ne bucket)(
            s"directory entries $first and $number share $depth bits but not their bucket")
        } else {
          bucketsAtDepth(depth) += 1
          indexBytes += Bucket.bytes(bucket)
          slots(number, bucket)
        }
      }
    }

    private def slots(number: Int, bucket: Array[Long]): Option[String] = {
      val used = (0 until Bucket.slots(bucket)).map(bucket(_)).filter(_ != Slot.Empty)
      rows += used.size
      if (used.size != Bucket.count(bucket)) {
        Some(s"bucket $number counts ${Bucket.count(bucket)} rows and has ${used.size}")
      } else used.iterator.flatMap(slot(number, bucket, _)).nextOption()
    }

    private def slot(entry: Int, bucket: Array[Long], slot: Long): Option[String] =
      pages.row(slot, number).orElse {
        val page = pages.page(slot)
        val offset = Slot.offset(slot)
        val key = RowRecord.keyOffset(offset)
        val keyLength = RowRecord.keyLength(page, offset)
        val hash = Bytes.hash(page, key, keyLength)
        val row = s"the row of table $number at page ${Slot.page(slot)} offset $offset"
        if (!Slot.hasTag(slot, Slot.tag(hash)))
          Some(s"the slot of $row has another hash than its key")
        else if (HashIndex.entry(hash, Bucket.depth(bucket)) != entry) {
          Some(s"$row lies in bucket $entry, where it does not belong")
        } else {
          val position = Bucket.find(bucket, hash, page, key, keyLength, pages.table)
          if (position < 0 || bucket(position) != slot)
            Some(s"a search for the key of $row does not find that row")
          else if (isTooEarly(slot))
            Some(s"$row is before the least time that is known of its page")
          else
            Option.when(Bucket.findAddress(bucket, slot) != position)(
              s"the slot of $row lies out of order in bucket $entry")
        }
      }

    private def isTooEarly(slot: Long): Boolean = table.times.exists { times =>
      times.eventTime.of(pages.page(slot), Slot.offset(slot)) < times.least(Slot.page(slot))
    }

    private def totals(): Option[String] =
      if (rows != index.keyCount) Some(s"the index counts ${index.keyCount} rows and has $rows")
      else if (!bucketsAtDepth.sameElements(index.bucketsAtDepth)) {
        Some(
          s"the index counts buckets by depth as ${index.bucketsAtDepth.mkString(",")} and has " +
            bucketsAtDepth.mkString(","))
      } else {
        Option.when(indexBytes != index.bytes)(
          s"the index counts ${index.bytes} bytes and has $indexBytes")
      }

    private def ordered(): Option[String] = table.ordered.flatMap { tree =>
      val walk = new OrderedWalk(tree)
      walk.firstViolation().orElse {
        if (walk.entries.toSet != walk.entriesOfRows)
          Some("the ordered index has other keys than the hash index")
        else if (walk.entries.size.toLong != tree.count) {
          Some(s"the ordered index counts ${tree.count} entries and has ${walk.entries.size}")
        } else {
          Option.when(walk.bytes != tree.bytes)(
            s"the ordered index counts ${tree.bytes} bytes and has ${walk.bytes}")
        }
      }
    }

    private final class OrderedWalk(tree: OrderedIndex) {
      private val encoder = tree.order.newEncoder()
      private val stride = tree.order.words + 1
      private val expected = new Array[Long](tree.order.words)
      val entries = mutable.ArrayBuffer.empty[Vector[Long]]
      var bytes = 0L

      def firstViolation(): Option[String] = node(tree.root, tree.height, None, None)

      // Entries lie between the bounds of their node, the lower one of which may be one of them.
      private def node(
          current: OrderedNode,
          height: Int,
          low: Option[Vector[Long]],
          high: Option[Vector[Long]]): Option[String] = {
        bytes += current.bytes
        if (current.isLeaf != (height == 1)) Some("leaves of the ordered index differ in height")
        else if (!current.isLeaf && current.count == 0) Some("an inner node has no children")
        else if (current.isLeaf) {
          (0 until current.count).iterator.flatMap(leafEntry(current, _, low, high)).nextOption()
        } else {
          (0 until current.count).iterator
            .flatMap { i =>
              val from = if (i == 0) low else Some(entry(current, i))
              val until = if (i + 1 == current.count) high else Some(entry(current, i + 1))
              node(current.children(i), height - 1, from, until)
            }
            .nextOption()
        }
      }

      private def leafEntry(
          leaf: OrderedNode,
          i: Int,
          low: Option[Vector[Long]],
          high: Option[Vector[Long]]): Option[String] = {
        val key = entry(leaf, i)
        val before = entries.lastOption
        entries += key
        if (before.exists(!above(key, _))) Some("entries of the ordered index are out of order")
        else {
          Option.when(low.exists(above(_, key)) || high.exists(!above(_, key)))(
            "an entry of the ordered index lies outside the bounds of its node")
        }
      }

      /** The entries that the rows of the hash index should have. */
      def entriesOfRows: Set[Vector[Long]] =
        (0 until 1 << index.depth).iterator
          .map(HashIndex.bucketAt(index.segments, _))
          .flatMap(bucket => bucket.take(Bucket.slots(bucket)).filter(_ != Slot.Empty))
          .map { slot =>
            val page = pages.page(slot)
            val key = RowRecord.keyOffset(Slot.offset(slot))
            val keyLength = RowRecord.keyLength(page, Slot.offset(slot))
            encoder.write(page, key, keyLength, expected)
            expected.toVector :+ Bytes.hash(page, key, keyLength)
          }
          .toSet

      private def entry(node: OrderedNode, i: Int): Vector[Long] =
        node.entries.slice(i * stride, i * stride + stride - 1).toVector :+
          node.hash(i, stride)

      private def above(left: Vector[Long], right: Vector[Long]): Boolean =
        left.lazyZip(right).map(java.lang.Long.compareUnsigned(_, _)).find(_ != 0).exists(_ > 0)
    }
  }
}

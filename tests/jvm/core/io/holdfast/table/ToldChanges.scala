package io.holdfast.table

import scala.collection.mutable

import io.holdfast.table.TransactionContent._

/** What a transaction gave out as its changes, and what it made of what.
  *
  * @param count
  *   how many it said that they are
  * @param early
  *   those that it told before they were asked for
  */
final case class ToldChanges(
    changes: Changes,
    count: Long,
    base: Model,
    result: Model,
    early: Vector[ToldChanges.Record]) {
  import ToldChanges._

  /** Applied to the base they have to give the result, and no key may occur twice. What was told early is
    * their beginning.
    */
  def violation: Option[String] = {
    val all, late = new Recording
    changes.foreach(all)
    changes.foreachLate(late)
    val seen = mutable.HashSet[Key]()
    val replayed = all.records.foldLeft(base) {
      case (rows, (key, Some(value))) => rows.updated(key, value)
      case (rows, (key, None)) => rows - key
    }
    all.records
      .collectFirst { case (key, _) if !seen.add(key) => s"key $key changed twice" }
      .orElse(
        Option.when(replayed != result)("the changes do not lead from the base to the result"))
      .orElse(Option.when(seen.size.toLong != count || count != changes.count)(
        s"${seen.size} changes, counted as $count and ${changes.count}"))
      .orElse(Option.when(early ++ late.records != all.records)(
        s"${early.size} changes were told early and ${late.records.size} late, which are not " +
          s"the ${all.records.size} in their order"))
  }
}

object ToldChanges {

  /** A key with its new value, or none if it was removed. */
  type Record = (Key, Option[Vector[Byte]])

  /** What a transaction tells before its changes are asked for, as it is then. */
  final class Early extends EarlyRows {
    private val recording = new Recording
    private var isVoid = false

    def records: Vector[Record] = if (isVoid) Vector.empty else recording.records

    override def filled(rows: WrittenRows): Unit = {
      assert(!isVoid, "rows were told early after what was told was void")
      rows.foreach(recording)
    }

    override def void(): Unit = {
      assert(!isVoid, "what was told early was void twice")
      isVoid = true
    }
  }

  final private class Recording extends ChangeVisitor {
    var records: Vector[Record] = Vector.empty

    override def put(page: Array[Byte], offset: Int): Unit =
      records :+= keyAt(page, offset) -> Some(valueAt(page, offset))

    override def remove(page: Array[Byte], offset: Int): Unit =
      records :+= keyAt(page, offset) -> None
  }
}

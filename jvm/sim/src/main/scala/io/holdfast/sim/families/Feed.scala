package io.holdfast.sim.families

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.RecordType

import io.holdfast.sim.world.{FamilyContent, Key, Rows, Value}

/** What the change feed of the `statestore` source shows of a column family. */
object Feed {

  /** Kind, key, value or null, and batch. */
  type Change = (RecordType.Value, UnsafeRow, UnsafeRow, Long)

  /** What is wrong with changes, in words: they have to lead from what a family held to what it holds. All
    * values have the columns that the family has in the end.
    *
    * @param before
    *   the family before the changes, if there was one and it is not another one by now
    */
  def difference(
      rows: Rows,
      before: Option[FamilyContent],
      after: FamilyContent,
      changes: Iterator[Change]): Option[String] = {
    var isOfOtherColumns = false
    val shown = changes.map { case (kind, key, value, _) =>
      isOfOtherColumns |= value != null && !rows.isValue(value, after.kind.wide)
      (kind, Rows.keyOf(key), Option(value).map(Rows.valueOf))
    }.toVector
    val start = before.fold(Map.empty[Key, Vector[Value]])(_.rows)
    if (isOfOtherColumns) Some(s"changes that are not of the columns of ${after.kind}")
    else
      Option.when(shown.foldLeft(start)(changed) != after.rows)(
        s"the changes ${shown.mkString(", ")}, which do not lead to ${after.rows}")
  }

  /** Whether changes are refused because their values are of other columns than those they are read by. */
  def isRefusal(e: Throwable): Boolean =
    e.isInstanceOf[IllegalStateException] && e.getMessage.contains("cannot show values")

  private def changed(
      rows: Map[Key, Vector[Value]],
      change: (RecordType.Value, Key, Option[Value])): Map[Key, Vector[Value]] = {
    val (kind, key, value) = change
    if (kind == RecordType.DELETE_RECORD) rows - key
    else {
      val others =
        if (kind == RecordType.MERGE_RECORD) rows.getOrElse(key, Vector.empty) else Vector.empty
      rows.updated(key, others ++ value)
    }
  }
}

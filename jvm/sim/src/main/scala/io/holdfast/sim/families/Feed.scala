package io.holdfast.sim.families

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.RecordType

import io.holdfast.sim.world.{FamilyContent, Key, Rows, Value}

/** What the change feed of the `statestore` source shows of a column family. */
object Feed {

  /** Kind, key, value or null, and batch. */
  type Change = (RecordType.Value, UnsafeRow, UnsafeRow, Long)

  /** What is wrong with changes, in words: they have to lead from what a family held to what it holds. Of
    * one that was removed meanwhile, or lost its rows and became another, only those since are shown. All
    * values have the columns that the family has in the end.
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
    val nothing = Map.empty[Key, Vector[Value]]
    val starts = before.map(_.rows).toVector :+ nothing
    if (isOfOtherColumns) Some(s"changes that are not of the columns of ${after.kind}")
    else
      Option.when(!starts.exists(start => shown.foldLeft(start)(changed) == after.rows))(
        s"the changes ${shown.mkString(", ")}, which do not lead to ${after.rows}")
  }

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

package io.holdfast.eviction

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BoundReference,
  Expression,
  GetStructField,
  LessThan,
  LessThanOrEqual,
  Literal
}
import org.apache.spark.sql.types.{DataType, LongType, StructType, TimestampNTZType, TimestampType}

import io.holdfast.table.EventTime

/** What a predicate of an operator says of the time of the rows that it removes: a column, or a column
  * of a struct, is at or before a time. Predicates of any other shape say nothing here.
  *
  * @param column
  *   the attribute or reference that is the time, or the struct that has it
  * @param nested
  *   the time inside that struct
  * @param threshold
  *   the latest time that is removed, in microseconds as in the predicate
  * @param nullNever
  *   whether null says that a row never expires, as where the predicate asks for it: it is never true of
  *   null then. Else it may read what lies there
  */
final private[eviction] case class ExpiredRows(
    column: Expression,
    nested: Option[EventTime.Column],
    threshold: Long,
    nullNever: Boolean) {

  /** Where the time lies in rows that have these attributes, and more behind them.
    *
    * @param more
    *   how many
    */
  def in(attributes: Seq[Attribute], inKey: Boolean, more: Int = 0): Option[EventTime] =
    column match {
      // Where an attribute comes twice, the operators read the first.
      case attribute: Attribute =>
        val ordinal = attributes.indexWhere(_.exprId == attribute.exprId)
        if (ordinal < 0) None else Some(at(inKey, attributes.size + more, ordinal))
      case _ => None
    }

  /** Where the time lies in keys of so many columns, if the predicate says which of them it is. */
  def inKeyOf(columns: Int): Option[EventTime] = column match {
    case BoundReference(ordinal, _, _) if ordinal < columns =>
      Some(at(inKey = true, columns, ordinal))
    case _ => None
  }

  private def at(inKey: Boolean, fields: Int, ordinal: Int): EventTime =
    EventTime(inKey, EventTime.Column(fields, ordinal), nested, nullNever = nullNever)
}

private[eviction] object ExpiredRows {

  def of(predicate: Expression): Option[ExpiredRows] = predicate match {
    case LessThanOrEqual(time, Literal(threshold: Long, LongType)) => at(time, threshold)
    case LessThan(time, Literal(threshold: Long, LongType)) if threshold > Long.MinValue =>
      at(time, threshold - 1L)
    case _ => None
  }

  private def at(time: Expression, threshold: Long): Option[ExpiredRows] = time match {
    case GetStructField(struct, ordinal, _) =>
      struct.dataType match {
        case StructType(fields) if isTime(fields(ordinal).dataType) =>
          val inside = Some(EventTime.Column(fields.length, ordinal))
          Some(ExpiredRows(struct, inside, threshold, time.nullable))
        case _ => None
      }
    case column if isTime(column.dataType) =>
      Some(ExpiredRows(column, None, threshold, column.nullable))
    case _ => None
  }

  // The types of event time that are a word in a row.
  private def isTime(column: DataType): Boolean = column match {
    case TimestampType | TimestampNTZType | LongType => true
    case _ => false
  }
}

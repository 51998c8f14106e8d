package io.holdfast.families

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.holdfast.ValueEvolution

import io.holdfast.rows.RowReader

/** Writes all values of a column family again, in a schema that an operator has changed. Rows are what
  * their schema says, so there are never rows of two schemas: the batch with the change takes as long as
  * the family has rows, and later ones know nothing of it. The change feed shows none of it: nobody has
  * changed what values say. For one thread.
  */
final private[holdfast] class EvolvedFamily(
    evolution: ValueEvolution,
    before: RowReader,
    after: FamilyWriter) {

  /** @param hasManyValues
    *   whether a key has several
    */
  def write(hasManyValues: Boolean): Unit = {
    val rows = before.unordered()
    try
      rows.foreach { row =>
        val values =
          if (hasManyValues) before.values(row.key).map(evolution(_).copy()).toArray[UnsafeRow]
          else Array(evolution(row.value))
        after.rewrite(row.key, values)
      }
    finally rows.close()
  }
}

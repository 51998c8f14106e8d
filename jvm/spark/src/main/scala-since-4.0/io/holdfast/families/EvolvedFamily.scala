package io.holdfast.families

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.holdfast.ValueEvolution

import io.holdfast.rows.RowReader

/** Writes all values of a column family again, in a schema that an operator has changed. Rows are what
  * their schema says, so there are never rows of two schemas: the batch with the change takes as long as
  * the family has rows, and later ones know nothing of it. For one thread.
  */
final private[holdfast] class EvolvedFamily(
    evolution: ValueEvolution,
    before: RowReader,
    after: FamilyWriter) {

  /** @param hasManyValues
    *   whether a key has several
    */
  def write(hasManyValues: Boolean): Unit = {
    val rows = before.iterator()
    try
      rows.foreach { row =>
        if (hasManyValues) {
          val values = before.values(row.key).map(evolution(_).copy()).toArray[UnsafeRow]
          after.change("evolve", row.key, values, append = false)
        } else after.put(row.key, evolution(row.value))
      }
    finally rows.close()
  }
}

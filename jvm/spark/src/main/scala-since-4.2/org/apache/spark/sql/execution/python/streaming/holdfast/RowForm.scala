package org.apache.spark.sql.execution.python.streaming.holdfast

import net.razorvine.pickle.Unpickler

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.execution.python.EvaluatePython
import org.apache.spark.sql.types._

/** How rows of a schema go to Python and come from there.
  *
  * What `PythonSQLUtils.toJVMRow` and `toPyRow` of Spark 4.2 do, but that what depends on the schema alone is
  * made once, and that rows go as tuples of their values: Python makes rows of them by the same schema.
  */
final private class RowForm(
    schema: StructType,
    deserializer: ExpressionEncoder.Deserializer[Row],
    unpickler: Unpickler,
    binaryAsBytes: Boolean) {

  private val fromPython = EvaluatePython.makeFromJava(schema)

  // None where the value of a row is what is pickled.
  private val toPython: Array[Option[Any => Any]] = schema.fields.map(_.dataType).map {
    case ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType | BooleanType =>
      None
    case _: StringType => None
    case other =>
      val toCatalyst = CatalystTypeConverters.createToCatalystConverter(other)
      Some(value => EvaluatePython.toJava(toCatalyst(value), other, binaryAsBytes))
  }

  /** Returns the row of a tuple of values, or of a pickled one. */
  def row(found: AnyRef): Row = {
    val values = found match {
      case pickled: Array[Byte] => unpickler.loads(pickled)
      case tuple => tuple
    }
    deserializer(fromPython(values).asInstanceOf[InternalRow])
  }

  /** Returns the values of a row as they are pickled, null for none. */
  def values(row: Row): AnyRef =
    if (row == null) null
    else Array.tabulate[Any](toPython.length)(at => converted(row.get(at), toPython(at)))

  private def converted(value: Any, conversion: Option[Any => Any]): Any =
    if (conversion.isEmpty || value == null) value else conversion.get(value)
}

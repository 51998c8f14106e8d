package io.holdfast.golden

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.json4s._
import org.json4s.jackson.JsonMethods

/** What a golden store holds, as its `expected.json` says it.
  *
  * @param codec
  *   the compression codec of its files
  * @param rowChecksums
  *   whether the records of its files carry row checksums
  * @param versions
  *   the rows of every version
  */
final case class Expected(
    codec: String,
    rowChecksums: Boolean,
    keySchema: StructType,
    valueSchema: StructType,
    versions: Map[Long, Set[JValue]]) {

  /** A row of readable values, as it stands in `versions`. */
  def row(key: UnsafeRow, value: UnsafeRow): JValue =
    JObject("key" -> columns(key, keySchema), "value" -> columns(value, valueSchema))

  def json: String = JsonMethods.pretty(
    JObject(
      "codec" -> JString(codec),
      "rowChecksums" -> JBool(rowChecksums),
      "keySchema" -> JsonMethods.parse(keySchema.json),
      "valueSchema" -> JsonMethods.parse(valueSchema.json),
      "versions" -> JArray(versions.toList.sortBy(_._1).map { case (version, rows) =>
        JObject(
          "version" -> JInt(version),
          "rows" -> JArray(rows.toList.sortBy(JsonMethods.compact(_))))
      })))

  private def columns(row: UnsafeRow, schema: StructType): JObject =
    JObject(schema.fieldNames.zip(row.toSeq(schema)).toList.map {
      case (name, null) => name -> JNull
      case (name, number: Long) => name -> JInt(number)
      case (name, text: UTF8String) => name -> JString(text.toString)
      case (name, other) => throw new MatchError(s"column $name: ${other.getClass}")
    })
}

object Expected {

  def parse(json: String): Expected = {
    implicit val formats: Formats = DefaultFormats
    val parsed = JsonMethods.parse(json)
    def schema(name: String) =
      DataType.fromJson(JsonMethods.compact(parsed \ name)).asInstanceOf[StructType]
    Expected(
      (parsed \ "codec").extract[String],
      (parsed \ "rowChecksums").extract[Boolean],
      schema("keySchema"),
      schema("valueSchema"),
      (parsed \ "versions").children.map { version =>
        (version \ "version").extract[Long] -> (version \ "rows").children.toSet
      }.toMap)
  }
}

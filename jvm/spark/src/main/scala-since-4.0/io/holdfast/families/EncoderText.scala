package io.holdfast.families

import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec
import org.apache.spark.sql.types.StructType
import org.json4s.JsonAST.JObject
import org.json4s.jackson.JsonMethods

/** Encoders of keys as files of Spark and of Holdfast have them. Any thread may call. */
private[holdfast] object EncoderText {

  /** @param json
    *   what Spark makes of a `KeyStateEncoderSpec`
    * @param keySchema
    *   schema of whole keys
    */
  def read(json: String, keySchema: StructType): KeyStateEncoderSpec =
    KeyStateEncoderSpec.fromJson(keySchema, JsonMethods.parse(json).asInstanceOf[JObject].values)
}

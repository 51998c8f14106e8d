package io.holdfast.python

import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreId}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}
import org.json4s.{DefaultFormats, Formats}
import org.json4s.jackson.JsonMethods.parse

/** A state store as Python describes it.
  *
  * @param stateFolder
  *   the folder `state` of a checkpoint
  * @param keySchema
  *   JSON of the schema, as Spark keeps it
  * @param prefixColumns
  *   leading columns of the key that a prefix scan goes by; 0 for none
  * @param settings
  *   what the query is bound to, by full names, with the class of the provider
  * @param families
  *   the column families that the store may have, by which its rows are then told apart; none of a store
  *   without
  */
final private[holdfast] case class DescribedStore(
    stateFolder: String,
    operatorId: Long,
    partitionId: Int,
    storeName: String,
    version: Long,
    keySchema: String,
    valueSchema: String,
    prefixColumns: Int,
    settings: Map[String, String],
    families: Option[List[DescribedFamily]]) {

  val key: StructType = DescribedStore.schema(keySchema)

  val value: StructType = DescribedStore.schema(valueSchema)

  def id: StateStoreId = StateStoreId(stateFolder, operatorId, partitionId, storeName)

  def conf: StateStoreConf = {
    val conf = new SQLConf
    settings.foreach { case (name, value) => conf.setConfString(name, value) }
    StateStoreConf(conf)
  }
}

private[holdfast] object DescribedStore {
  private implicit val formats: Formats = DefaultFormats

  def of(json: String): DescribedStore = parse(json).extract[DescribedStore]

  def schema(json: String): StructType =
    DataType.fromJson(json).asInstanceOf[StructType]
}

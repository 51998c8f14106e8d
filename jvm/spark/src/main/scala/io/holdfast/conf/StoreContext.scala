package io.holdfast.conf

import org.apache.hadoop.conf.Configuration
import org.apache.spark.{SparkConf, SparkEnv}
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreConf,
  StateStoreId,
  StateStoreProviderId
}
import org.apache.spark.sql.execution.streaming.state.holdfast.RunIds
import org.apache.spark.sql.types.StructType

import io.holdfast.rows.{RowChecksums, RowFormat, ScanOrder}
import io.holdfast.table.Version

/** What a provider learns once, when Spark initialises it, and never changes. */
private[holdfast] final case class StoreContext(
    id: StateStoreId,
    keySchema: StructType,
    valueSchema: StructType,
    order: Option[ScanOrder],
    conf: StateStoreConf,
    hadoopConf: Configuration) {

  val providerId: StateStoreProviderId =
    StateStoreProviderId(id, RunIds.of(hadoopConf))

  val format: RowFormat = RowFormat(
    id.toString,
    keySchema,
    valueSchema,
    order,
    RowChecksums.areEnabled(conf),
    RowChecksums.verifyEvery(conf))

  /** Version 0. */
  val empty: Version = Version.empty(order)

  val holdfastConf: HoldfastConf = HoldfastConf(conf.sqlConfs, Runtime.getRuntime.maxMemory)

  val sparkConf: SparkConf = Option(SparkEnv.get).map(_.conf).getOrElse(new SparkConf)

  /** The store in messages. */
  def describe(kind: String, version: Option[Long]): String =
    s"$kind[stateStoreId=$id${version.map(v => s", version=$v").mkString}]"

  override def toString: String = describe("HoldfastStateStoreProvider", None)
}

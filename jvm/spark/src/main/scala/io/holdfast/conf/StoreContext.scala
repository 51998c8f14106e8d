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

import io.holdfast.rows.{RowChecksums, RowFormat, ScanOrder, StoreFamilies}
import io.holdfast.table.{Tables, Version}

/** What a provider learns once, when Spark initialises it, and never changes.
  *
  * @param newFamilies
  *   makes what is known of column families, in a store that has them
  * @param leastLimitBytes
  *   the smallest memory limit that may be set in bytes
  */
private[holdfast] final case class StoreContext(
    id: StateStoreId,
    keySchema: StructType,
    valueSchema: StructType,
    order: Option[ScanOrder],
    conf: StateStoreConf,
    hadoopConf: Configuration,
    newFamilies: Option[RowFormat => StoreFamilies] = None,
    leastLimitBytes: Long = HoldfastConf.LeastLimitBytes) {

  val providerId: StateStoreProviderId =
    StateStoreProviderId(id, RunIds.of(hadoopConf))

  val format: RowFormat = RowFormat(
    id.toString,
    keySchema,
    valueSchema,
    order,
    RowChecksums.areEnabled(conf),
    RowChecksums.verifyEvery(conf))

  /** What is known of column families, in a store that has them. */
  val families: Option[StoreFamilies] = newFamilies.map(_(format))

  /** Version 0. */
  val empty: Version = Version.empty(order)

  /** Number of keys that a store tells of. As in Spark's RocksDB provider, the rows of column families
    * that are the operator's own are not counted.
    */
  def keyCount(rows: Tables): Long =
    if (families.isEmpty) rows.keyCount
    else rows.families.all.iterator.filterNot(_.isInternal).map(rows.keyCount(_)).sum

  val holdfastConf: HoldfastConf =
    HoldfastConf(conf.sqlConfs, Runtime.getRuntime.maxMemory, leastLimitBytes)

  val sparkConf: SparkConf = Option(SparkEnv.get).fold(StoreContext.withoutSpark)(_.conf)

  /** The store in messages. */
  def describe(kind: String, version: Option[Long]): String =
    s"$kind[stateStoreId=$id${version.map(v => s", version=$v").mkString}]"

  override def toString: String = describe("HoldfastStateStoreProvider", None)
}

private[holdfast] object StoreContext {

  // Who reads state without Spark running has the settings of the JVM.
  private lazy val withoutSpark: SparkConf = new SparkConf
}

package io.holdfast.store

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProvider
}
import org.apache.spark.sql.types.StructType

import io.holdfast.checkpoint.VersionId
import io.holdfast.rows.{RowFormat, ScanOrder, StoreFamilies}

/** What a provider does, whatever calls Spark has for it: those lie in `ProviderCalls`, one for each
  * group of lines that agree. Any thread may call.
  */
private[holdfast] trait ProviderWork extends StateStoreProvider {

  /** Learns once which store it is for.
    *
    * @param order
    *   how its rows are scanned, if they are
    * @param families
    *   makes what is known of column families, if it has them
    */
  private[holdfast] def begin(
      id: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      order: Option[ScanOrder],
      conf: StateStoreConf,
      hadoopConf: Configuration,
      families: Option[RowFormat => StoreFamilies] = None): Unit

  /** A version for making the next one. */
  private[holdfast] def writable(version: VersionId, forceSnapshot: Boolean): StateStore

  /** A version for reading. */
  private[holdfast] def readable(version: VersionId): ReadStateStore

  /** A version for making the next one, from the store that has been reading it. */
  private[holdfast] def upgraded(
      read: ReadStateStore,
      version: VersionId,
      forceSnapshot: Boolean): StateStore

  /** A store whose commit is the version after one, whatever that one is. */
  private[holdfast] def replacing(version: VersionId): StateStore

  /** A version, rebuilt from exactly this snapshot, for making the next one. */
  private[holdfast] def replayed(snapshot: VersionId, end: VersionId): StateStore

  /** A version, rebuilt from exactly this snapshot, for reading. */
  private[holdfast] def replayedForReading(snapshot: VersionId, end: VersionId): ReadStateStore

  /** The parts of the provider.
    *
    * @throws java.lang.IllegalStateException
    *   before [[begin]]
    */
  private[holdfast] def store: StoreParts
}

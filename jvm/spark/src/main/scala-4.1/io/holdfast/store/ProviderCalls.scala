package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}

import io.holdfast.checkpoint.VersionId

/** How Spark 4.1 asks a provider for stores. */
private[holdfast] trait ProviderCalls extends FamilyProvider with ReplayCalls with InstanceMetrics {

  override def getStore(version: Long, stateStoreCkptId: Option[String]): StateStore =
    writable(VersionId(version, stateStoreCkptId), forceSnapshot = false)

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String]): StateStore =
    upgraded(readStore, VersionId(version, uniqueId), forceSnapshot = false)
}

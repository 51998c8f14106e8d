package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.StateStore

import io.holdfast.checkpoint.VersionId

/** How Spark 4.0 asks a provider for stores. */
private[holdfast] trait ProviderCalls extends FamilyProvider with ReplayCalls {

  override def getStore(version: Long, uniqueId: Option[String]): StateStore =
    writable(VersionId(version, uniqueId), forceSnapshot = false)
}

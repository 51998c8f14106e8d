package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}
import org.apache.spark.sql.execution.streaming.state.holdfast.StateErrors

import io.holdfast.checkpoint.VersionId

/** How Spark asks a provider for stores from 4.2 on: with a snapshot if its coordinator wants one, and
  * with no state to begin with for whoever brings all of it.
  */
private[holdfast] trait ProviderCalls extends FamilyProvider with ReplayCalls with InstanceMetrics {

  override def getStore(
      version: Long,
      stateStoreCkptId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean): StateStore =
    if (loadEmpty) openToReplace(version, stateStoreCkptId)
    else writable(VersionId(version, stateStoreCkptId), forceSnapshotOnCommit)

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean): StateStore =
    upgraded(readStore, VersionId(version, uniqueId), forceSnapshotOnCommit)

  private def openToReplace(version: Long, id: Option[String]): StateStore = {
    if (version < 0) throw StateErrors.unexpectedVersion(version)
    if (id.isDefined) {
      throw new IllegalArgumentException(
        s"loadEmpty starts from nothing, and the checkpoint id ${id.mkString} names a version " +
          s"$version to start from; leave one of them out")
    }
    replacing(VersionId(version, None))
  }
}

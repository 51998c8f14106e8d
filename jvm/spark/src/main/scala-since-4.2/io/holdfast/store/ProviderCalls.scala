package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore, StateStoreErrors}
import org.apache.spark.sql.execution.streaming.state.holdfast.StateErrors
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.checkpoint.{CheckpointIds, VersionId}

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
    else writable(baseOf(version, stateStoreCkptId), forceSnapshotOnCommit)

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean): StateStore =
    upgraded(readStore, baseOf(version, uniqueId), forceSnapshotOnCommit)

  // Spark 4.2 takes ids out of the commit log whatever format the session has, and puts none into it in
  // format 1 (`MicroBatchExecution`): nobody would find what were committed on such a version.
  private def baseOf(version: Long, id: Option[String]): VersionId = {
    if (id.isDefined && !CheckpointIds.areGiven(store.context.conf)) {
      throw StateStoreErrors.stateStoreCheckpointIdsNotSupported(
        s"The query has run in checkpoint format 2, and its version $version has the checkpoint id " +
          s"${id.mkString}, but ${SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key} is " +
          s"${store.context.conf.stateStoreCheckpointFormatVersion} now: set it to 2. Nothing was written.")
    }
    VersionId(version, id)
  }

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

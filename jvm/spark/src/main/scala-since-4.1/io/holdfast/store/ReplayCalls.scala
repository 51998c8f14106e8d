package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  SupportsFineGrainedReplay
}
import org.apache.spark.sql.execution.streaming.state.holdfast.ChangeDataReaders
import org.apache.spark.sql.execution.streaming.state.holdfast.ChangeDataReaders.ChangeDataReader

import io.holdfast.checkpoint.VersionId
import io.holdfast.rows.Unsupported

/** What the `statestore` source asks a provider for from Spark 4.1 on: versions by the snapshot before
  * them, and changes, by number and id.
  */
private[holdfast] trait ReplayCalls extends ProviderWork with SupportsFineGrainedReplay {

  override def replayStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long,
      readOnly: Boolean,
      snapshotVersionStateStoreCkptId: Option[String],
      endVersionStateStoreCkptId: Option[String]): StateStore = {
    ReadOnlyReplay.check(readOnly)
    replayed(
      VersionId(snapshotVersion, snapshotVersionStateStoreCkptId),
      VersionId(endVersion, endVersionStateStoreCkptId))
  }

  override def replayReadStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long,
      snapshotVersionStateStoreCkptId: Option[String],
      endVersionStateStoreCkptId: Option[String]): ReadStateStore =
    replayedForReading(
      VersionId(snapshotVersion, snapshotVersionStateStoreCkptId),
      VersionId(endVersion, endVersionStateStoreCkptId))

  override def getStateStoreChangeDataReader(
      startVersion: Long,
      endVersion: Long,
      colFamilyNameOpt: Option[String],
      endVersionStateStoreCkptId: Option[String]): ChangeDataReader = {
    val feed =
      new FeedFiles(store, startVersion, VersionId(endVersion, endVersionStateStoreCkptId))
    if (store.context.families.isDefined) {
      val name = colFamilyNameOpt.getOrElse(StateStore.DEFAULT_COL_FAMILY_NAME)
      ChangeDataReaders.over(new FamilyChanges(store, feed, name))
    } else {
      if (colFamilyNameOpt.isDefined) throw Unsupported.columnFamilies
      // The records are those of Spark's provider, so Spark's own reader of changes fits.
      ChangeData.reader(store, startVersion, endVersion, feed.deltas)
    }
  }
}

package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.{
  HDFSBackedStateStoreChangeDataReader,
  ReadStateStore,
  StateStore,
  SupportsFineGrainedReplay
}
import org.apache.spark.sql.execution.streaming.state.holdfast.ChangeDataReaders
import org.apache.spark.sql.execution.streaming.state.holdfast.ChangeDataReaders.ChangeDataReader

import io.holdfast.checkpoint.VersionId
import io.holdfast.rows.Unsupported

/** What the `statestore` source of Spark 4.0 asks a provider for: versions by the snapshot before them,
  * and changes, by number.
  */
private[holdfast] trait ReplayCalls extends ProviderWork with SupportsFineGrainedReplay {

  override def replayStateFromSnapshot(snapshotVersion: Long, endVersion: Long): StateStore =
    replayed(VersionId(snapshotVersion, None), VersionId(endVersion, None))

  override def replayReadStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long): ReadStateStore =
    replayedForReading(VersionId(snapshotVersion, None), VersionId(endVersion, None))

  override def getStateStoreChangeDataReader(
      startVersion: Long,
      endVersion: Long,
      colFamilyNameOpt: Option[String]): ChangeDataReader =
    if (store.context.families.isDefined) {
      val feed = new FeedFiles(store, startVersion, VersionId(endVersion, None))
      val name = colFamilyNameOpt.getOrElse(StateStore.DEFAULT_COL_FAMILY_NAME)
      ChangeDataReaders.over(new FamilyChanges(store, feed, name))
    } else {
      if (colFamilyNameOpt.isDefined) throw Unsupported.columnFamilies
      // The records are those of Spark's provider, so Spark's own reader of changes fits.
      new HDFSBackedStateStoreChangeDataReader(
        store.files.fileManager,
        store.files.folder,
        startVersion,
        endVersion,
        store.files.codec(),
        store.context.keySchema,
        store.context.valueSchema)
    }
}

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
    val end = VersionId(endVersion, endVersionStateStoreCkptId)
    val listing = store.files.list()
    val deltas = listing.deltasBetween(startVersion - 1, end)
    if (deltas.headOption.exists(_.number != startVersion)) {
      throw store.loader.missingBase(startVersion, end)
    }
    if (store.context.families.isDefined) {
      val base = listing
        .lineage(end)
        .find(_.number == startVersion - 1)
        .getOrElse(VersionId(startVersion - 1, None))
      ChangeDataReaders.over(
        new FamilyChanges(
          store,
          deltas,
          store.versions.open(base).rows.families,
          colFamilyNameOpt.getOrElse(StateStore.DEFAULT_COL_FAMILY_NAME)))
    } else {
      if (colFamilyNameOpt.isDefined) throw Unsupported.columnFamilies
      // The records are those of Spark's provider, so Spark's own reader of changes fits.
      ChangeData.reader(store, startVersion, endVersion, deltas)
    }
  }
}

package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreChangeDataReader
import org.apache.spark.sql.execution.streaming.state.holdfast.ChangeDataReaders.ChangeDataReader

import io.holdfast.checkpoint.VersionId

/** Spark's reader of the changes in delta files, as Spark 4.1 makes it. */
private[holdfast] object ChangeData {

  /** @param deltas
    *   the files, oldest first
    */
  def reader(store: StoreParts, start: Long, end: Long, deltas: Seq[VersionId]): ChangeDataReader =
    new HDFSBackedStateStoreChangeDataReader(
      store.files.fileManager,
      store.files.folder,
      start,
      end,
      store.files.codec(),
      store.context.keySchema,
      store.context.valueSchema) {
      override protected val versionsAndUniqueIds: Array[(Long, Option[String])] =
        deltas.map(delta => delta.number -> delta.id).toArray
    }
}

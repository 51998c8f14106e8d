package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.OffsetSeqLog
import org.apache.spark.sql.execution.streaming.state.holdfast.Sessions.LocalSession

/** The newest entry of a checkpoint's offset log, as Spark before 4.2 reads it. */
private[holdfast] object NewestOffsets {

  /** The settings that its batch is bound to. */
  def settings(session: LocalSession, offsets: Path): Option[Map[String, String]] =
    for {
      (_, batch) <- new OffsetSeqLog(session, offsets.toString).getLatest()
      metadata <- batch.metadata
    } yield metadata.conf
}

package org.apache.spark.sql.execution.streaming.state.holdfast

import java.util.UUID

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.holdfast.Sessions.LocalSession

/** Queries that Spark has started and that have not read their checkpoint yet. */
object StartedQueries {

  /** The session that the batches of a query will run in, which is a copy of the one that it was started
    * in and nobody else's, if the query has no batch yet. For the thread of the query, when
    * it says that it was started (`StreamExecution.runStream`, Spark 4.3).
    *
    * @param session
    *   the one that it was started in
    */
  def sessionOfNew(session: SparkSession, id: UUID, runId: UUID): Option[SparkSession] =
    Option(session.asInstanceOf[LocalSession].sharedState.activeStreamingQueries.get(id))
      .filter(query => query.runId == runId && query.offsetLog.getLatest().isEmpty)
      .map(_.sparkSessionForStream)
}

package io.holdfast.start

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.holdfast.{SparkInternals, StartedQueries}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener.{
  QueryProgressEvent,
  QueryStartedEvent,
  QueryTerminatedEvent
}

import io.holdfast.HoldfastStateStoreProvider

/** Gives Holdfast to the new queries of a session that names no provider, those in real-time mode too.
  *
  * Spark refuses a query in real-time mode where its session names another provider than that of RocksDB
  * (`StreamingQueryManager.throwIfConfsAreRealTimeModeIncompatible`, Spark 4.3), and looks at nothing
  * else there. The query then gets a copy of the session for itself, in which real-time mode sets the
  * provider of RocksDB if there is none, and from which the first batch takes the provider that the
  * checkpoint is bound to. Between the two the query says on its own thread that it was started, and
  * waits for the listeners of its session: that is where the copy is given Holdfast. So nothing is
  * changed in the session, and nothing for any other query. A provider that was set there is left alone,
  * and so is a query that has a checkpoint.
  *
  * Such a query also gets checkpoint format 2, which real-time mode needs: whatever it begins as, it may
  * go on in real-time mode.
  */
final private[start] class RealTimeQueries(session: SparkSession) extends StreamingQueryListener {
  import RealTimeQueries._

  override def onQueryStarted(event: QueryStartedEvent): Unit =
    StartedQueries.sessionOfNew(session, event.id, event.runId).foreach { own =>
      defaults.foreach { case (name, value) =>
        if (!SparkInternals.isSet(own, name)) own.conf.set(name, value)
      }
    }

  override def onQueryProgress(event: QueryProgressEvent): Unit = ()

  override def onQueryTerminated(event: QueryTerminatedEvent): Unit = ()
}

private[start] object RealTimeQueries {

  private val defaults = Map(
    QueryStart.ProviderSetting -> classOf[HoldfastStateStoreProvider].getName,
    SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> "2")

  /** Sees to it that the queries that are started in a session are given what they need. Any thread may
    * call, again and again.
    */
  def in(session: SparkSession): Unit = session.synchronized {
    val streams = session.streams
    val isThere = streams.listListeners().exists {
      case _: RealTimeQueries => true
      case _ => false
    }
    if (!isThere) streams.addListener(new RealTimeQueries(session))
  }
}

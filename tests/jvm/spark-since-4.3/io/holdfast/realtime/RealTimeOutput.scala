package io.holdfast.realtime

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{ForeachWriter, Row}

/** What queries of this JVM have written, by a name that each has for it. */
object RealTimeOutput {
  private val rows = new ConcurrentHashMap[String, ConcurrentLinkedQueue[String]]

  /** All rows so far, in no order. */
  def of(name: String): Seq[String] = queue(name).asScala.toSeq.sorted

  /** Waits until a query has written so many. */
  def await(name: String, count: Int): Unit = synchronized {
    while (queue(name).size < count) wait()
  }

  def writer(name: String): ForeachWriter[Row] = new ForeachWriter[Row] {
    override def open(partition: Long, batch: Long): Boolean = true
    override def process(row: Row): Unit = {
      queue(name).add(row.toString)
      RealTimeOutput.synchronized(RealTimeOutput.notifyAll())
    }
    override def close(error: Throwable): Unit = ()
  }

  private def queue(name: String): ConcurrentLinkedQueue[String] =
    rows.computeIfAbsent(name, _ => new ConcurrentLinkedQueue)
}

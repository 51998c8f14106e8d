package io.holdfast.bench

import java.util.Arrays
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicReference

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{ForeachWriter, Row}

/** How long records of a query took from where they were made to where they were written, batch by
  * batch. Both ends are in this JVM.
  */
final class Latencies {
  private val finished = new ConcurrentLinkedQueue[(Long, Array[Long])]

  def add(batch: Long, nanos: Array[Long]): Unit = {
    finished.add(batch -> nanos)
    ()
  }

  /** Those of each batch but the first ones and the last, which the end of the query cut short. */
  def byBatch(warmUp: Int): Seq[Array[Long]] = {
    val batches = finished.asScala.toSeq.groupBy(_._1).toSeq.sortBy(_._1)
    batches.slice(warmUp, batches.size - 1).map(_._2.map(_._2).toArray.flatten)
  }
}

object Latencies {

  /** Of the query that runs now. */
  private val current = new AtomicReference(new Latencies)

  def begin(): Latencies = {
    val fresh = new Latencies
    current.set(fresh)
    fresh
  }

  /** Takes the column `made` of each row for the time at which the record was made, in nanoseconds. */
  def writer: ForeachWriter[Row] = new ForeachWriter[Row] {
    private var batch = 0L
    private var nanos = new Array[Long](1024)
    private var count = 0
    private var column = -1

    override def open(partition: Long, epoch: Long): Boolean = {
      batch = epoch
      true
    }

    override def process(row: Row): Unit = {
      if (column < 0) column = row.fieldIndex("made")
      if (count == nanos.length) nanos = Arrays.copyOf(nanos, count * 2)
      nanos(count) = System.nanoTime() - row.getLong(column)
      count += 1
    }

    override def close(error: Throwable): Unit = {
      current.get.add(batch, Arrays.copyOf(nanos, count))
      count = 0
    }
  }
}

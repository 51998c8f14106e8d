package io.holdfast.eviction

import java.sql.Timestamp

import scala.util.Random

/** What the queries read. */
final case class Sighting(side: Int, name: String, at: Timestamp, amount: Long)

object Sighting {

  /** The seconds by which event time moves on from batch to batch. */
  val SecondsPerBatch = 20

  /** The sightings of so many batches, the same at every call. Times are in no order within a batch;
    * some are before the watermark, and some between the watermark of late events and the one of
    * eviction. Two sides have the same names, and a time is null now and then.
    */
  def batches(count: Int, perBatch: Int): Seq[Seq[Sighting]] = {
    val random = new Random(7)
    Seq.tabulate(count, perBatch) { (batch, _) =>
      val second = batch * SecondsPerBatch - 60 + random.nextInt(60 + SecondsPerBatch)
      val at = if (random.nextInt(50) == 0) null else new Timestamp(second * 1000L)
      Sighting(random.nextInt(2), s"name ${random.nextInt(40)}", at, random.nextInt(1000).toLong)
    }
  }
}

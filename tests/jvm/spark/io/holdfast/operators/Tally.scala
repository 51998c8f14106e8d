package io.holdfast.operators

import org.apache.spark.sql.streaming.{GroupState, GroupStateTimeout}

/** The state of a name: its events, the sum of their amounts and the last amounts. */
final case class Tally(events: Long, sum: Long, amounts: Seq[Long], note: Option[String]) {

  def +(event: Event): Tally = Tally(
    events + 1,
    sum + event.amount.getOrElse(0L),
    (amounts ++ event.amount).takeRight(3),
    if (event.at.isEmpty) Some(s"event $events has no time") else note)
}

/** What is said of a name in a batch. */
final case class Total(name: String, tally: Tally, timedOut: Boolean)

object Tally {
  type By[A] = (String, Iterator[Event], GroupState[Tally]) => A

  private val Empty = Tally(0, 0, Nil, None)
  private val HalfAnHourMillis = 1800000L
  private val LargeSum = 100

  /** Adds the events of a name to its state. The state goes when it has timed out, which is half an
    * hour after the newest event of the batch or the watermark, or in the first batch without events
    * of the name; and also when its sum is large.
    */
  def by(timeout: GroupStateTimeout): By[Total] = (name, events, state) => {
    val batch = events.toSeq
    val tally = batch.foldLeft(state.getOption.getOrElse(Empty))(_ + _)
    val timedOut = state.hasTimedOut
    if (timedOut || tally.sum > LargeSum) state.remove()
    else {
      state.update(tally)
      if (timeout == GroupStateTimeout.ProcessingTimeTimeout) state.setTimeoutDuration(1)
      if (timeout == GroupStateTimeout.EventTimeTimeout) {
        val times = batch.flatMap(_.at).map(_.getTime) :+ state.getCurrentWatermarkMs()
        state.setTimeoutTimestamp(times.max + HalfAnHourMillis)
      }
    }
    Total(name, tally, timedOut)
  }

  /** The same with as many rows as the tally has amounts: none to three. */
  def severalBy(timeout: GroupStateTimeout): By[Iterator[Total]] = (name, events, state) => {
    val total = by(timeout)(name, events, state)
    total.tally.amounts.iterator.map(_ => total)
  }
}

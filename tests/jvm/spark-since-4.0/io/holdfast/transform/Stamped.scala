package io.holdfast.transform

import java.sql.Timestamp

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.streaming.{
  ExpiredTimerInfo,
  OutputMode,
  StatefulProcessor,
  TTLConfig,
  TimeMode,
  TimerValues,
  ValueState
}

import io.holdfast.query.Event

/** Says every other event of a name, and one more when the watermark passes the last. */
final class Stamped extends StatefulProcessor[String, Event, Stamp] {
  @transient private var seen: ValueState[Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    seen = getHandle.getValueState("seen", Encoders.scalaLong, TTLConfig.NONE)

  override def handleInputRows(
      name: String,
      events: Iterator[Event],
      timers: TimerValues): Iterator[Stamp] = {
    val all = events.toVector.sortBy(_.amount)
    val before = if (seen.exists()) seen.get() else 0L
    seen.update(before + all.size)
    getHandle.registerTimer(all.map(_.at.getTime).max + 1L)
    all.zipWithIndex.collect {
      case (event, i) if (before + i) % 2 == 0 => Stamp(name, event.at)
    }.iterator
  }

  // What it says may not be late for what comes after it.
  override def handleExpiredTimer(
      name: String,
      timers: TimerValues,
      expired: ExpiredTimerInfo): Iterator[Stamp] = {
    if (seen.get() > 20) seen.clear()
    Iterator.single(Stamp(name, new Timestamp(timers.getCurrentWatermarkInMs() + 1L)))
  }
}

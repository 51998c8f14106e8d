package io.holdfast.bench

import java.sql.Timestamp

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.streaming.{
  ExpiredTimerInfo,
  ListState,
  MapState,
  OutputMode,
  StatefulProcessor,
  TTLConfig,
  TimeMode,
  TimerValues,
  ValueState
}

/** An id, and the key that it belongs to. */
final case class Update(id: Long, key: Long)

/** An id, and when it was. */
final case class Happened(id: Long, time: Timestamp)

/** Counts the ids of a key, in a value. */
final class CountsInValue extends StatefulProcessor[Long, Update, Long] {
  @transient private var count: ValueState[Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    count = getHandle.getValueState("count", Encoders.scalaLong, TTLConfig.NONE)

  override def handleInputRows(
      key: Long,
      updates: Iterator[Update],
      timers: TimerValues): Iterator[Long] = {
    val counted = (if (count.exists()) count.get() else 0L) + updates.size
    count.update(counted)
    Iterator.single(counted)
  }
}

/** Keeps the last ids of a key, five to ten of them, in a list. */
final class LastInList extends StatefulProcessor[Long, Update, Long] {
  @transient private var last: ListState[Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    last = getHandle.getListState("last", Encoders.scalaLong, TTLConfig.NONE)

  override def handleInputRows(
      key: Long,
      updates: Iterator[Update],
      timers: TimerValues): Iterator[Long] = {
    val before = last.get().toArray
    updates.foreach(update => last.appendValue(update.id))
    if (before.length >= LastInList.Most) last.put(before.takeRight(LastInList.Most / 2))
    Iterator.single(before.length.toLong)
  }
}

private object LastInList {
  private val Most = 10
}

/** Counts the ids of a key, of eight kinds, in a map. */
final class CountsInMap extends StatefulProcessor[Long, Update, Long] {
  @transient private var counts: MapState[Long, Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = counts =
    getHandle.getMapState("counts", Encoders.scalaLong, Encoders.scalaLong, TTLConfig.NONE)

  override def handleInputRows(
      key: Long,
      updates: Iterator[Update],
      timers: TimerValues): Iterator[Long] = {
    var counted = 0L
    updates.foreach { update =>
      val kind = update.id % 8
      counted = (if (counts.containsKey(kind)) counts.getValue(kind) else 0L) + 1L
      counts.updateValue(kind, counted)
    }
    Iterator.single(counted)
  }
}

/** Keeps each id until the watermark has passed its time. */
final class UntilItsTime extends StatefulProcessor[Long, Happened, Long] {
  @transient private var kept: ValueState[Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    kept = getHandle.getValueState("kept", Encoders.scalaLong, TTLConfig.NONE)

  override def handleInputRows(
      key: Long,
      events: Iterator[Happened],
      timers: TimerValues): Iterator[Long] = {
    events.foreach { event =>
      kept.update(event.id)
      getHandle.registerTimer(math.max(event.time.getTime, timers.getCurrentWatermarkInMs() + 1L))
    }
    Iterator.empty
  }

  override def handleExpiredTimer(
      key: Long,
      timers: TimerValues,
      expired: ExpiredTimerInfo): Iterator[Long] = {
    kept.clear()
    Iterator.single(key)
  }
}

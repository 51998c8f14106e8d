package io.holdfast.transform

import java.time.Duration

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.streaming.{
  ExpiredTimerInfo,
  ListState,
  MapState,
  OutputMode,
  StatefulProcessorWithInitialState,
  TTLConfig,
  TimeMode,
  TimerValues,
  ValueState
}

import io.holdfast.query.Event

/** What was booked under a name, in state of every kind. Where there are timers, a name is closed when
  * nothing has come for some time.
  *
  * @param keeps
  *   how long what is booked stays, if it does not stay for ever
  * @param closesAfter
  *   how long after its last event a name is closed, if it is
  */
final class Ledger(keeps: Option[Duration] = None, closesAfter: Option[Duration] = None)
    extends StatefulProcessorWithInitialState[String, Event, String, Ledger.Opening] {
  @transient private var total: ValueState[Long] = _
  @transient private var amounts: ListState[Long] = _
  @transient private var notes: MapState[String, Long] = _
  @transient private var times: TimeMode = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    val ttl = keeps.fold(TTLConfig.NONE)(TTLConfig(_))
    total = getHandle.getValueState("total", Encoders.scalaLong, ttl)
    amounts = getHandle.getListState("amounts", Encoders.scalaLong, ttl)
    notes = getHandle.getMapState("notes", Encoders.STRING, Encoders.scalaLong, ttl)
    times = timeMode
  }

  override def handleInitialState(
      name: String,
      opening: Ledger.Opening,
      timers: TimerValues): Unit = {
    total.update(opening.total)
    amounts.put(opening.amounts.toArray)
    opening.amounts.foreach(amount => notes.updateValue(s"from the start $amount", amount))
    closesAfter.foreach(_ => getHandle.registerTimer(now(timers) + 1L))
  }

  override def handleInputRows(
      name: String,
      events: Iterator[Event],
      timers: TimerValues): Iterator[String] = {
    val all = events.toVector.sortBy(_.amount)
    all.foreach { event =>
      total.update((if (total.exists()) total.get() else 0L) + event.amount)
      event.amount % 10 match {
        case 0 => amounts.put(Array(event.amount, -event.amount))
        case 1 => amounts.appendList(Array.tabulate(60)(_ + event.amount))
        case _ => amounts.appendValue(event.amount)
      }
      if (event.amount % 7 == 3) notes.removeKey(event.note)
      else notes.updateValue(event.note, event.amount)
    }
    closesAfter.foreach { after =>
      getHandle.listTimers().toVector.foreach(getHandle.deleteTimer)
      getHandle.registerTimer(lastOf(all, timers) + after.toMillis)
    }
    Iterator.single(told(name))
  }

  override def handleExpiredTimer(
      name: String,
      timers: TimerValues,
      expired: ExpiredTimerInfo): Iterator[String] = {
    val last = told(name)
    total.clear()
    amounts.clear()
    notes.clear()
    Iterator.single(s"$last, closed at ${expired.getExpiryTimeInMs()}")
  }

  private def lastOf(events: Seq[Event], timers: TimerValues): Long =
    if (times == TimeMode.EventTime()) events.map(_.at.getTime).max else now(timers)

  private def now(timers: TimerValues): Long =
    if (times == TimeMode.EventTime()) timers.getCurrentWatermarkInMs()
    else timers.getCurrentProcessingTimeInMs()

  private def told(name: String): String = {
    val values = if (amounts.exists()) amounts.get().toVector else Vector.empty
    val byNote = if (notes.exists()) notes.iterator().toVector.sorted else Vector.empty
    s"$name: ${if (total.exists()) total.get() else 0L} of $values, $byNote"
  }
}

object Ledger {

  /** What a name begins with. */
  final case class Opening(name: String, total: Long, amounts: Seq[Long])
}

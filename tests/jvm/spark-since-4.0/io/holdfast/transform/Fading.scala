package io.holdfast.transform

import java.time.Duration

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
import org.apache.spark.sql.Encoders

import io.holdfast.query.Event

/** Keeps what came in the last seconds, in state of every kind, and takes nothing away itself. Timers
  * that have expired make others, and leave a note in the map.
  */
final class Fading extends StatefulProcessor[String, Event, Fading.Kept] {
  import Fading._

  @transient private var value: ValueState[Long] = _
  @transient private var list: ListState[Long] = _
  @transient private var map: MapState[String, Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    value = getHandle.getValueState("value", Encoders.scalaLong, seconds(4))
    list = getHandle.getListState("list", Encoders.scalaLong, seconds(5))
    map = getHandle.getMapState("map", Encoders.STRING, Encoders.scalaLong, seconds(6))
  }

  override def handleInputRows(
      name: String,
      events: Iterator[Event],
      timers: TimerValues): Iterator[Kept] = {
    val now = timers.getCurrentProcessingTimeInMs()
    events.toVector.map(_.amount).sorted.foreach { amount =>
      amount % 5 match {
        case 0 => value.update(amount)
        case 1 => list.appendList(Array.tabulate(60)(_ + amount))
        case 2 => list.appendValue(amount)
        case 3 => getHandle.registerTimer(now + 500L * (amount % 20))
        case _ => map.updateValue(s"key ${amount % 13}", amount)
      }
    }
    Iterator.single(kept(name, now))
  }

  override def handleExpiredTimer(
      name: String,
      timers: TimerValues,
      expired: ExpiredTimerInfo): Iterator[Kept] = {
    val at = expired.getExpiryTimeInMs()
    if (at % 1500 != 0) getHandle.registerTimer(at + 4500L)
    map.updateValue(FromTimer, at)
    Iterator.single(kept(name, at))
  }

  private def kept(name: String, at: Long): Kept = Kept(
    name,
    at,
    if (value.exists()) Some(value.get()) else None,
    if (list.exists()) list.get().toVector else Vector.empty,
    if (map.exists()) map.iterator().toVector.sorted else Vector.empty,
    getHandle.listTimers().toVector.sorted)
}

object Fading {

  /** The key that timers write. */
  val FromTimer = "timer"

  /** What is kept under a name at a time.
    *
    * @param at
    *   in milliseconds, as `timers`
    */
  final case class Kept(
      name: String,
      at: Long,
      value: Option[Long],
      list: Seq[Long],
      map: Seq[(String, Long)],
      timers: Seq[Long])

  private def seconds(count: Int): TTLConfig = TTLConfig(Duration.ofSeconds(count.toLong))
}

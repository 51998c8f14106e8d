package io.holdfast.transform

import scala.reflect.runtime.universe.TypeTag

import org.apache.spark.sql.{Encoder, Encoders}
import org.apache.spark.sql.streaming.{
  ListState,
  MapState,
  OutputMode,
  StatefulProcessor,
  TTLConfig,
  TimeMode,
  TimerValues,
  ValueState
}

import io.holdfast.query.Event

/** Notes what an event becomes in state of every kind, and says what there was before it.
  *
  * @param made
  *   what an event becomes
  * @param variables
  *   the names of those variables that there are; others are deleted
  * @param clears
  *   whether it clears the state of whom events are of, instead of noting them
  */
final class Noting[A <: Product: TypeTag](
    made: Event => A,
    variables: Set[String] = Set("last", "all", "byNote"),
    clears: Boolean = false)
    extends StatefulProcessor[String, Event, String] {
  private val encoder: Encoder[A] = Encoders.product[A]
  @transient private var last: Option[ValueState[A]] = _
  @transient private var all: Option[ListState[A]] = _
  @transient private var byNote: Option[MapState[String, A]] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    last = variable("last")(getHandle.getValueState(_, encoder, TTLConfig.NONE))
    all = variable("all")(getHandle.getListState(_, encoder, TTLConfig.NONE))
    byNote = variable("byNote")(getHandle.getMapState(_, Encoders.STRING, encoder, TTLConfig.NONE))
  }

  override def handleInputRows(
      name: String,
      events: Iterator[Event],
      timers: TimerValues): Iterator[String] = {
    val sorted = events.toVector.sortBy(_.amount)
    val before = Seq(
      last.filter(_.exists()).map(_.get().toString),
      all.filter(_.exists()).map(_.get().toVector.toString),
      byNote.filter(_.exists()).map(_.iterator().toVector.map(_.toString).sorted.toString))
    if (clears) clear() else sorted.foreach(note)
    Iterator.single(s"$name: ${before.map(_.getOrElse("none"))}")
  }

  private def note(event: Event): Unit = {
    last.foreach(_.update(made(event)))
    // Some lists stay as they are, and only the columns of their values change.
    if (event.amount % 5 == 0) all.foreach(_.appendValue(made(event)))
    byNote.foreach(_.updateValue(event.note, made(event)))
  }

  // Where there is nothing, RocksDB shows its removal, and Holdfast nothing.
  private def clear(): Unit = {
    last.filter(_.exists()).foreach(_.clear())
    all.filter(_.exists()).foreach(_.clear())
    byNote.filter(_.exists()).foreach(_.clear())
  }

  private def variable[S](name: String)(get: String => S): Option[S] =
    if (variables(name)) Some(get(name))
    else {
      getHandle.deleteIfExists(name)
      None
    }
}

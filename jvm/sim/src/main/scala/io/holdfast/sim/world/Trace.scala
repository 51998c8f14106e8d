package io.holdfast.sim.world

/** What happened in a history, as a hash: two runs of one seed must agree in it. For one thread.
  *
  * @param show
  *   is told every event, for a person to read
  */
final class Trace(show: Option[String => Unit]) {
  private[this] var sum = 0xcbf29ce484222325L
  private[this] var count = 0L

  def add(who: String, what: String, subject: String, number: Long = 0L): Unit = {
    count += 1
    sum = (sum ^ who.hashCode) * 0x100000001b3L
    sum = (sum ^ what.hashCode) * 0x100000001b3L
    sum = (sum ^ subject.hashCode) * 0x100000001b3L
    sum = (sum ^ number) * 0x100000001b3L
    if (show.isDefined)
      tell(s"$count $who: $what $subject${if (number == 0) "" else s" ($number)"}")
  }

  private[this] def tell(event: String): Unit = show.foreach(_(event))

  def hash: Long = sum
  def events: Long = count
}

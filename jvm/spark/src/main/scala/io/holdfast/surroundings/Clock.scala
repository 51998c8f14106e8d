package io.holdfast.surroundings

/** The time, as the parts of a store ask for it. Any thread may call. */
private[holdfast] trait Clock {

  /** Milliseconds since 1970: what Spark's coordinator compares. */
  def millis: Long

  /** Nanoseconds since some moment, for durations. */
  def nanos: Long

  /** Milliseconds since a moment of [[nanos]]. */
  final def millisSince(nanos: Long): Long = (this.nanos - nanos) / 1000000L
}

private[holdfast] object Clock {

  /** The clock of this machine. */
  object OfThisMachine extends Clock {
    override def millis: Long = System.currentTimeMillis()
    override def nanos: Long = System.nanoTime()
  }
}

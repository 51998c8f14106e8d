package io.holdfast.sim.world

import io.holdfast.surroundings.Clock

/** Time that passes as events happen, the same in all processes. For one thread. */
final class SimClock extends Clock {
  private[this] var now = 1700000000000000000L

  override def millis: Long = now / 1000000L
  override def nanos: Long = now

  def pass(nanos: Long): Unit = now += nanos
}

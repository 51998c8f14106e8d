package io.holdfast.testkit

import java.util.concurrent.atomic.AtomicLong

import io.holdfast.surroundings.Clock

/** Time that passes when a test says so. Any thread may call. */
final class HandClock extends Clock {
  private val now = new AtomicLong(1000000L)

  override def millis: Long = now.get

  override def nanos: Long = now.get * 1000000L

  def pass(millis: Long): Unit = {
    val _ = now.addAndGet(millis)
  }
}

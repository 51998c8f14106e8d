package io.holdfast.table

import java.util.concurrent.atomic.AtomicLong

/** Numbers that name writers, so that a piece of a structure can tell who may change it in place.
  * No number is given out twice in a JVM. Any thread may call.
  */
private[table] object Stamps {
  private val last = new AtomicLong(0L)

  def next(): Long = last.incrementAndGet()
}

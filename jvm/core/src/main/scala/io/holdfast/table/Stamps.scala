package io.holdfast.table

import java.util.concurrent.atomic.AtomicLong

/** Numbers that name writers, so that a piece of a structure can tell who may change it in place.
  * Every number is larger than all that were given out before in this JVM, so what has a smaller one
  * than a writer's first is older than the writer. Any thread may call.
  */
private[table] object Stamps {
  private val last = new AtomicLong(0L)

  def next(): Long = last.incrementAndGet()
}

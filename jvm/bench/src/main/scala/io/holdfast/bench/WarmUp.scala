package io.holdfast.bench

/** Does something until the JVM has compiled it. */
object WarmUp {

  /** Does it so many times, or for so many seconds where that is shorter. */
  def apply(times: Int, seconds: Int)(body: => Unit): Unit = {
    val end = System.nanoTime() + seconds * 1000000000L
    (1 to times).iterator.takeWhile(_ => System.nanoTime() < end).foreach(_ => body)
  }
}

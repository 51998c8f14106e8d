package io.holdfast.bench

/** Does something until the JVM has compiled it. */
object WarmUp {

  /** Does it for so many seconds, but as often as that at least. */
  def apply(atLeast: Int, seconds: Int)(body: => Unit): Unit = {
    val end = System.nanoTime() + seconds * 1000000000L
    var times = 0
    while (times < atLeast || System.nanoTime() < end) {
      body
      times += 1
    }
  }
}

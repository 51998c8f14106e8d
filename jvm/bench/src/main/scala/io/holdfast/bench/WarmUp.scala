package io.holdfast.bench

/** Does something until the JVM has compiled it. */
object WarmUp {

  /** Does it for so many seconds, or so many times where that is shorter; ten times at least, if
    * nothing else is said.
    */
  def apply(
      seconds: Int,
      atMost: Int = Int.MaxValue,
      atLeast: Int = AtLeast)(body: => Unit): Unit = {
    val end = System.nanoTime() + seconds * 1000000000L
    var times = 0
    while (times < atLeast || (times < atMost && System.nanoTime() < end)) {
      body
      times += 1
    }
  }

  private val AtLeast = 10
}

package io.holdfast.sim.world

/** Numbers that follow from a seed alone (SplitMix64). For one thread. */
final class SimRandom(seed: Long) {
  private[this] var state = seed

  def long(): Long = {
    state += 0x9e3779b97f4a7c15L
    var z = state
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL
    z ^ (z >>> 31)
  }

  /** One of 0 until `n`. */
  def below(n: Int): Int = ((long() >>> 33) % n).toInt

  /** One of the numbers from the first to the last. */
  def between(first: Int, last: Int): Int = first + below(last - first + 1)

  def chance(probability: Double): Boolean = (long() >>> 11) * 1.1102230246251565e-16 < probability

  def oneOf[A](values: IndexedSeq[A]): A = values(below(values.size))

  def shuffled[A](values: IndexedSeq[A]): Vector[A] = {
    val made = values.toBuffer
    var i = made.size - 1
    while (i > 0) {
      val j = below(i + 1)
      val value = made(i)
      made(i) = made(j)
      made(j) = value
      i -= 1
    }
    made.toVector
  }

  /** Others, which do not depend on how many of these are drawn afterwards. */
  def fork(): SimRandom = new SimRandom(long())
}

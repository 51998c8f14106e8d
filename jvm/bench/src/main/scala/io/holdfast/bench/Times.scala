package io.holdfast.bench

import scala.collection.mutable

/** Durations of the same thing done again and again. For one thread. */
final class Times {
  private val nanos = mutable.ArrayBuffer.empty[Long]

  def time[A](body: => A): A = {
    val start = System.nanoTime()
    val result = body
    nanos += System.nanoTime() - start
    result
  }

  def totalMillis: Double = nanos.sum / 1e6

  /** Median, 99th percentile and maximum in milliseconds, under names that begin with `prefix`. */
  def numbers(prefix: String): Numbers = {
    val sorted = nanos.sorted
    def at(share: Double): Double =
      sorted(math.min(sorted.size - 1, (sorted.size * share).toInt)) / 1e6
    Seq(
      s"${prefix}MedianMillis" -> at(0.5),
      s"${prefix}P99Millis" -> at(0.99),
      s"${prefix}MaxMillis" -> at(1.0))
  }
}

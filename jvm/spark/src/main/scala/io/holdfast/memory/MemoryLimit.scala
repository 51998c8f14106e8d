package io.holdfast.memory

import io.holdfast.conf.HoldfastConf

/** What the state of all stores of a JVM may hold together. Any thread may call.
  *
  * What Spark counts itself, cached data and what its operators work on, is the one thing beside the state
  * that may take more than half of a heap, and Spark gives none of it up for objects on the heap. So a
  * limit that nobody has set leaves it its room: as long as it is there, the state has less.
  *
  * @param mostBytes
  *   heap bytes, whatever is beside the state
  * @param withSparkBytes
  *   heap bytes of the state and of what Spark counts together
  * @param sparkBytes
  *   heap bytes that Spark counts now
  */
final private[holdfast] class MemoryLimit(
    mostBytes: Long,
    withSparkBytes: Long,
    sparkBytes: () => Long) {

  /** Heap bytes that the state may hold now. */
  def bytes: Long = beside(sparkBytes())

  /** The same for messages: what the limit allows, and why if it is not what was set. */
  def describe: String = {
    val spark = sparkBytes()
    val reason =
      if (beside(spark) < mostBytes) s" beside ${ByteSize(spark)} of cached data and operators"
      else ""
    s"${HoldfastConf.MemoryLimit.name} allows ${ByteSize(beside(spark))}$reason"
  }

  private[this] def beside(spark: Long): Long =
    math.min(mostBytes, math.max(withSparkBytes - spark, withSparkBytes / MemoryLimit.LeastShare))
}

private[holdfast] object MemoryLimit {

  // Of what both may take; else a fraction of Spark's that leaves nothing would leave small state
  // nothing either.
  private val LeastShare = 10L

  /** The same at all times. */
  def of(bytes: Long): MemoryLimit = new MemoryLimit(bytes, Long.MaxValue, () => 0L)

  /** What settings say. */
  def of(conf: HoldfastConf, sparkBytes: () => Long): MemoryLimit =
    conf.withSparkBytes.fold(of(conf.memoryLimitBytes))(
      new MemoryLimit(conf.memoryLimitBytes, _, sparkBytes))
}

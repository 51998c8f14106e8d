package io.holdfast.memory

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.internal.Logging

/** Says in the log that the memory limit is near: now, and again when ten minutes have passed, for all
  * stores of a JVM come near it together and after each batch. Any thread may call.
  *
  * @param nanos
  *   the time, as `System.nanoTime` tells it
  */
final private[holdfast] class LimitWarning(nanos: () => Long) extends Logging {
  import LimitWarning._

  private val quietUntil = new AtomicLong(nanos())

  def near(heldBytes: Long, limit: MemoryLimit): Unit = {
    val now = nanos()
    val until = quietUntil.get
    if (now - until >= 0 && quietUntil.compareAndSet(until, now + QuietNanos)) {
      logWarning(
        s"The state stores of this JVM hold ${ByteSize(heldBytes)} and " +
          s"${limit.describe}; a batch that needs more will fail. Give the " +
          "executors more memory or the query more executors, or keep less state, such as with a " +
          "shorter watermark delay")
    }
  }
}

private[holdfast] object LimitWarning {
  private val QuietNanos = 10L * 60 * 1000 * 1000 * 1000

  val OfThisJvm = new LimitWarning(() => System.nanoTime())
}

package io.holdfast.surroundings

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{LinkedBlockingQueue, ThreadPoolExecutor, TimeUnit}

/** Threads that the stores of a JVM share, which keep no JVM alive and go when there is nothing to
  * do.
  */
private[holdfast] object DaemonThreads {

  /** At most so many threads; what they cannot do yet waits in the order in which it came. */
  def apply(name: String, count: Int): ThreadPoolExecutor = {
    val made = new AtomicInteger
    val pool = new ThreadPoolExecutor(
      count,
      count,
      10L,
      TimeUnit.SECONDS,
      new LinkedBlockingQueue[Runnable],
      (work: Runnable) => {
        val thread = new Thread(work, s"$name-${made.incrementAndGet()}")
        thread.setDaemon(true)
        thread
      })
    pool.allowCoreThreadTimeOut(true)
    pool
  }
}

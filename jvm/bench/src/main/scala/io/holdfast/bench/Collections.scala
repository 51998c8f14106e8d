package io.holdfast.bench

import java.lang.management.ManagementFactory
import java.util.concurrent.atomic.AtomicLong
import javax.management.openmbean.CompositeData
import javax.management.{Notification, NotificationEmitter, NotificationListener}

import scala.jdk.CollectionConverters._

import com.sun.management.GarbageCollectionNotificationInfo

/** The pauses of the garbage collector from here on. */
final class Collections {
  // What G1 and ZGC do while the program runs has a bean of its own.
  private val collectors = ManagementFactory.getGarbageCollectorMXBeans.asScala.toSeq
    .filterNot(bean => bean.getName.contains("Concurrent") || bean.getName.endsWith("Cycles"))

  private val startMillis = total
  private val startNanos = System.nanoTime()
  private val longest = new AtomicLong

  private val listener: NotificationListener = (notification: Notification, _: Any) =>
    if (notification.getType == GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION) {
      val info =
        GarbageCollectionNotificationInfo.from(notification.getUserData.asInstanceOf[CompositeData])
      longest.accumulateAndGet(info.getGcInfo.getDuration, math.max(_, _))
      ()
    }

  collectors.foreach {
    case emitter: NotificationEmitter => emitter.addNotificationListener(listener, null, null)
    case other => throw new IllegalStateException(s"$other does not tell of its collections")
  }

  def numbers: Numbers = {
    val elapsed = (System.nanoTime() - startNanos) / 1e6
    val collecting = (total - startMillis).toDouble
    Seq(
      "gcMillis" -> collecting,
      "gcSharePercent" -> 100 * collecting / elapsed,
      "gcLongestPauseMillis" -> longest.get.toDouble)
  }

  private def total: Long = collectors.map(_.getCollectionTime).sum
}

object Collections {

  /** Heap bytes in use after full collections. */
  def usedBytes(): Long = {
    // One collection leaves what finalisers and reference queues still hold.
    (1 to 3).foreach(_ => System.gc())
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
  }

  /** Collects what went before, so that none of it is collected while something else is measured. */
  def settle(): Unit = System.gc()
}

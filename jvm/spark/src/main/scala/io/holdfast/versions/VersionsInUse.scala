package io.holdfast.versions

import java.util
import javax.annotation.concurrent.GuardedBy

import scala.jdk.CollectionConverters._

import io.holdfast.memory.StoreMemory
import io.holdfast.table.{Version, VersionHistory}

/** Counts the heap that the versions of a store take: those in memory, and those that somebody reads
  * or starts from after they left it. Any thread may call.
  *
  * @param memory
  *   is told
  */
final private[holdfast] class VersionsInUse(inMemory: VersionsInMemory, memory: StoreMemory) {
  // One for each use: there are few at a time.
  @GuardedBy("this") private val used = new util.ArrayList[Version]
  @GuardedBy("this") private val history = new VersionHistory

  /** Counts a version until the use is ended. */
  def use(version: Version): Use = {
    synchronized(used.add(version))
    if (!inMemory.contains(version)) count()
    new Use(version)
  }

  /** Says that a version was committed or loaded, and is the newest in memory. */
  def published(version: Version): Unit = {
    synchronized {
      history.append(version)
      history.retain(inMemory.all ++ used.asScala)
    }
    count()
  }

  private def count(): Unit = memory.versionsUse {
    val kept = inMemory.all
    // Versions are compared by identity.
    val others = synchronized {
      used.asScala.toSeq.distinct.filterNot(kept.contains(_)).map(history.bytesBesideNewest)
    }
    Version.heldBytes(kept) + others.sum
  }

  /** For one thread. */
  final class Use private[VersionsInUse] (version: Version) extends AutoCloseable {
    private[this] var isEnded = false

    /** Ends the use. Idempotent. */
    override def close(): Unit =
      if (!isEnded) {
        isEnded = true
        VersionsInUse.this.synchronized(letGo(version))
        if (!inMemory.contains(version)) count()
      }
  }

  @GuardedBy("this")
  private def letGo(version: Version): Unit = {
    var i = used.size - 1
    while (used.get(i) ne version) i -= 1
    used.remove(i)
    ()
  }
}

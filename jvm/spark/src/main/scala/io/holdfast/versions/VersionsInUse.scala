package io.holdfast.versions

import java.util
import javax.annotation.concurrent.GuardedBy

import io.holdfast.memory.StoreMemory
import io.holdfast.table.{Version, VersionHistory}

/** Counts the heap that the versions of a store take: those in memory, and those that somebody reads
  * or starts from after they left it. Any thread may call.
  *
  * @param memory
  *   is told
  */
final private[holdfast] class VersionsInUse(inMemory: VersionsInMemory, memory: StoreMemory) {
  import VersionsInUse._

  // One for each use: there are few at a time.
  @GuardedBy("this") private val used = new util.ArrayList[Version]
  @GuardedBy("this") private var history = new VersionHistory
  @GuardedBy("this") private var forgetAt = LeastRemembered

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
      // Seldom, so that a commit does not look through all of them.
      if (history.size >= forgetAt) {
        history.retain(inMemory.all ++ used.toArray(Array.empty[Version]))
        forgetAt = 2 * history.size + LeastRemembered
      }
    }
    count()
  }

  /** Says that nothing is in memory any more. */
  def forgotten(): Unit = {
    // It keeps the newest.
    synchronized { history = new VersionHistory }
    count()
  }

  private def count(): Unit = memory.versionsUse {
    val kept = inMemory.all
    Version.heldBytes(kept) + synchronized(bytesBeside(kept))
  }

  // What is used and not kept. Versions are compared by identity.
  @GuardedBy("this")
  private def bytesBeside(kept: Seq[Version]): Long = {
    var bytes = 0L
    var i = 0
    while (i < used.size) {
      val version = used.get(i)
      if (used.indexOf(version) == i && !kept.contains(version)) {
        bytes += history.bytesBesideNewest(version)
      }
      i += 1
    }
    bytes
  }

  /** Any thread may end it. */
  final class Use private[VersionsInUse] (version: Version) extends AutoCloseable {
    @GuardedBy("VersionsInUse.this") private[this] var isEnded = false

    /** Ends the use. Idempotent. */
    override def close(): Unit = if (ends() && !inMemory.contains(version)) count()

    // Whether this call does it: a task and what cleans up after it may end the same store.
    private[this] def ends(): Boolean = VersionsInUse.this.synchronized {
      val first = !isEnded
      if (first) {
        isEnded = true
        letGo(version)
      }
      first
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

private object VersionsInUse {

  // Versions in the history beside twice those that were needed last.
  private val LeastRemembered = 16
}

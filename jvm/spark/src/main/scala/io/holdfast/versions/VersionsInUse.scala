package io.holdfast.versions

import java.util.IdentityHashMap
import javax.annotation.concurrent.GuardedBy

import scala.jdk.CollectionConverters._

import io.holdfast.memory.StoreMemory
import io.holdfast.table.Version

/** Counts the heap that the versions of a store take: those in memory, and those that somebody reads
  * or starts from after they left it. Any thread may call.
  *
  * @param memory
  *   is told
  */
final private[holdfast] class VersionsInUse(inMemory: VersionsInMemory, memory: StoreMemory) {
  @GuardedBy("this") private val users = new IdentityHashMap[Version, Integer]

  /** Counts a version until the use is ended. */
  def use(version: Version): Use = {
    synchronized(users.merge(version, 1, (one, more) => one + more))
    if (!inMemory.contains(version)) count()
    new Use(version)
  }

  /** Counts anew; to be called when the versions in memory have changed. */
  def count(): Unit = memory.versionsUse(Version.heldBytes(held))

  private def held: Seq[Version] = {
    val used = synchronized(users.keySet.asScala.toSeq)
    // Versions are compared by identity.
    (inMemory.all ++ used).distinct
  }

  /** For one thread. */
  final class Use private[VersionsInUse] (version: Version) extends AutoCloseable {
    private[this] var isEnded = false

    /** Ends the use. Idempotent. */
    override def close(): Unit =
      if (!isEnded) {
        isEnded = true
        letGo(version)
      }
  }

  private def letGo(version: Version): Unit = {
    val left = synchronized {
      users.computeIfPresent(version, (_, count) => if (count == 1) null else count - 1)
    }
    if (left == null && !inMemory.contains(version)) count()
  }
}

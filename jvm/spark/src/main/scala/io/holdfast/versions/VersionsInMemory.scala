package io.holdfast.versions

import java.util.TreeMap
import javax.annotation.concurrent.GuardedBy

import io.holdfast.checkpoint.{KnownDelta, VersionId}
import io.holdfast.table.Version

/** The versions of a store that stay in memory: the newest, at most as many as
  * `spark.sql.streaming.maxBatchesToRetainInMemory` says, chosen as Spark's provider does
  * (`putStateIntoStateCacheMap` of `HDFSBackedStateStoreProvider`, Spark 4.2). Of several attempts at
  * a version there is one: the one that was put last.
  *
  * Any thread may call.
  *
  * @param limit
  *   how many to keep; 0 or less keeps none
  */
private[holdfast] final class VersionsInMemory(limit: Int) {
  import VersionsInMemory.Loaded

  @GuardedBy("this") private val versions = new TreeMap[Long, Loaded]()

  // The one that is asked for most, for those who need no lock for it. Null if there is none.
  @volatile private var newest: Loaded = null

  def get(id: VersionId): Option[Version] = {
    val last = newest
    if (last != null && last.id == id) Some(last.version) else older(id)
  }

  private def older(id: VersionId): Option[Version] = synchronized {
    Option(versions.get(id.number)).filter(_.id == id).map(_.version)
  }

  /** Whether just this version is kept, and not another attempt at it. */
  def contains(version: Version): Boolean = {
    val last = newest
    last != null && (last.version eq version) || synchronized {
      kept.exists(_.version eq version)
    }
  }

  /** The delta of just this version, if it is kept and has one. */
  def delta(version: Version): Option[KnownDelta] = synchronized {
    kept.find(_.version eq version).flatMap(_.delta)
  }

  /** Whether another attempt at a version is kept, with an id of its own. */
  def hasAnother(id: VersionId): Boolean = synchronized {
    Option(versions.get(id.number)).exists(_.id != id)
  }

  /** Keeps a version unless it is older than all of a full set.
    *
    * @param delta
    *   its delta; nothing if it has none
    */
  def put(id: VersionId, version: Version, delta: Option[KnownDelta]): Unit = synchronized {
    if (limit > 0) {
      versions.put(id.number, Loaded(id, version, delta))
      while (versions.size > limit) versions.pollFirstEntry()
      setNewest()
    }
  }

  @GuardedBy("this")
  private def setNewest(): Unit =
    newest = if (versions.isEmpty) null else versions.lastEntry().getValue

  /** Forgets a version, and returns it if it was kept. */
  def remove(id: VersionId): Option[Version] = synchronized {
    val gone = get(id)
    gone.foreach(_ => versions.remove(id.number))
    setNewest()
    gone
  }

  /** The newest version. */
  def latest: Option[(VersionId, Version)] = synchronized {
    Option(versions.lastEntry()).map(_.getValue).map(loaded => loaded.id -> loaded.version)
  }

  /** The versions in memory, oldest first. */
  def ids: Seq[VersionId] = synchronized(kept.map(_.id))

  /** The numbers of the versions in memory, oldest first. */
  def numbers: Seq[Long] = ids.map(_.number)

  def all: Seq[Version] = synchronized(kept.map(_.version))

  // Oldest first.
  @GuardedBy("this")
  private def kept: Seq[Loaded] = versions.values.toArray(Array.empty[Loaded]).toSeq

  def clear(): Unit = synchronized {
    versions.clear()
    newest = null
  }
}

private[holdfast] object VersionsInMemory {
  private final case class Loaded(id: VersionId, version: Version, delta: Option[KnownDelta])
}

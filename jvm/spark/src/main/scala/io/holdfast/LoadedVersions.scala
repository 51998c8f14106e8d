package io.holdfast

import java.util.TreeMap
import javax.annotation.concurrent.GuardedBy

import scala.jdk.CollectionConverters._

import io.holdfast.table.Version

/** The versions of a store that stay in memory: the newest, at most as many as
  * `spark.sql.streaming.maxBatchesToRetainInMemory` says, chosen as Spark's provider does
  * (`putStateIntoStateCacheMap` of `HDFSBackedStateStoreProvider`, Spark 4.2).
  *
  * Any thread may call.
  *
  * @param limit
  *   how many to keep; 0 or less keeps none
  */
private[holdfast] final class LoadedVersions(limit: Int) {
  @GuardedBy("this") private val versions = new TreeMap[Long, Version]()

  def get(version: Long): Option[Version] = synchronized(Option(versions.get(version)))

  /** Keeps a version unless it is older than all of a full set. Replaces another attempt at it. */
  def put(number: Long, version: Version): Unit = synchronized {
    if (limit > 0) {
      versions.put(number, version)
      while (versions.size > limit) versions.pollFirstEntry()
    }
  }

  /** The newest version and its number. */
  def latest: Option[(Long, Version)] = synchronized {
    Option(versions.lastEntry()).map(entry => entry.getKey -> entry.getValue)
  }

  /** The numbers of the versions in memory, oldest first. */
  def numbers: Seq[Long] = synchronized(versions.keySet.asScala.toSeq)

  def all: Seq[Version] = synchronized(versions.values.asScala.toSeq)

  def clear(): Unit = synchronized(versions.clear())
}

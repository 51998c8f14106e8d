package io.holdfast.testkit

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}

import io.holdfast.HoldfastStateStoreProvider
import io.holdfast.checkpoint.VersionId

/** A store that writes a snapshot with its commit, which no Spark before 4.2 asks for: the engine can
  * do it all the same.
  */
object ForcedSnapshot {
  def write(provider: StateStoreProvider, version: Long): StateStore = provider match {
    case holdfast: HoldfastStateStoreProvider =>
      holdfast.writable(VersionId(version, None), forceSnapshot = true)
    case other =>
      throw new UnsupportedOperationException(s"${other.getClass} writes snapshots on a timer only")
  }
}

package io.holdfast.python

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}

/** Stores that begin without the state of the version before, which Spark has from 4.2 on. */
private[holdfast] object WholeStates {

  /** A store whose commit is the version after one, with a snapshot of it. */
  def after(provider: StateStoreProvider, version: Long): StateStore =
    provider.getStore(
      version,
      stateStoreCkptId = None,
      forceSnapshotOnCommit = true,
      loadEmpty = true)
}

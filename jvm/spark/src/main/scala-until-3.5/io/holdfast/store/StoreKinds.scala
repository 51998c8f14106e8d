package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}

import io.holdfast.versions.{StartingVersion, StoreUsage}

/** Which store a provider gives out: before Spark 4.0 none has column families. */
private[holdfast] object StoreKinds {

  def writing(start: StartingVersion, usage: StoreUsage, parts: StoreParts): StateStore =
    new HoldfastStateStore(start, usage, parts)

  def reading(start: StartingVersion, parts: StoreParts): ReadStateStore =
    new HoldfastReadStateStore(start, parts)
}

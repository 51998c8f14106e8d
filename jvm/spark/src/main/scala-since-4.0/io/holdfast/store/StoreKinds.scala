package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}

import io.holdfast.versions.{StartingVersion, StoreUsage}

/** Which store a provider gives out: stores with column families are of classes of their own. */
private[holdfast] object StoreKinds {

  def writing(start: StartingVersion, usage: StoreUsage, parts: StoreParts): StateStore =
    if (parts.context.families.isEmpty) new HoldfastStateStore(start, usage, parts)
    else new FamilyStateStore(start, usage, parts)

  def reading(start: StartingVersion, parts: StoreParts): ReadStateStore =
    if (parts.context.families.isEmpty) new HoldfastReadStateStore(start, parts)
    else new FamilyReadStateStore(start, parts)
}

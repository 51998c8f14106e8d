package io.holdfast.store

import io.holdfast.checkpoint.StateFiles
import io.holdfast.conf.StoreContext
import io.holdfast.memory.StoreMemory
import io.holdfast.metrics.HoldfastMetrics
import io.holdfast.snapshots.StoreMaintenance
import io.holdfast.versions.{VersionLoader, VersionsInMemory}

/** The parts of an initialised provider. */
final private[holdfast] class StoreParts(val context: StoreContext) {

  // Finished files and published versions follow the same order, so that the last attempt at a
  // version wins in the folder and in memory alike.
  val commitLock = new Object

  val files = new StateFiles(context)
  val inMemory = new VersionsInMemory(context.conf.maxVersionsToRetainInMemory)
  val metrics = new HoldfastMetrics(context, inMemory)
  val memory = new StoreMemory(context.toString, context.holdfastConf.memoryLimitBytes)
  val loader = new VersionLoader(context, files, inMemory, memory)
  val maintenance = new StoreMaintenance(context, files, inMemory, metrics, commitLock)
  val failures = new StoreFailures(context)
  val versions = new StoreVersions(
    context,
    files,
    inMemory,
    loader,
    maintenance,
    memory,
    metrics,
    failures,
    commitLock)
}

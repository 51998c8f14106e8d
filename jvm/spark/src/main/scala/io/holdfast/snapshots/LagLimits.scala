package io.holdfast.snapshots

/** When Spark's coordinator takes the snapshots of a store for late, and has it write one with its next
  * commit: when the last one that was reported is more than so many versions and more than so much time
  * ago. A store that has reported none is late as soon as it has so many versions.
  *
  * @param versions
  *   `multiplierForMinVersionDiffToLog` times `minDeltasForSnapshot`; 50 by default
  * @param millis
  *   `multiplierForMinTimeDiffToLog` times `maintenanceInterval`; ten minutes by default
  */
final private[holdfast] case class LagLimits(versions: Long, millis: Long)

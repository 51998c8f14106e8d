package io.holdfast.sim

import io.holdfast.sim.run.{Counters, Outcome}

/** What many histories had in them. */
final class Totals {
  var histories = 0L
  var failures = 0L
  private[this] var withFamilies = 0L
  private[this] val counters = new Counters
  private[this] var operations = 0L
  private[this] var hash = 0L

  def add(outcome: Outcome): Unit = {
    histories += 1
    if (outcome.failure.isDefined) failures += 1
    if (outcome.plan.families.isDefined) withFamilies += 1
    operations += outcome.operations
    counters.add(outcome.counters)
    hash = hash * 31 + outcome.hash
  }

  def describe(minutes: Double): String =
    f"$histories%d histories in $minutes%.1f minutes (${histories / minutes}%.0f a minute), " +
      s"$failures failed: with column families=$withFamilies operations=$operations faults=${counters.faults} " +
      s"crashes=${counters.crashes} power losses=${counters.powerLosses} " +
      s"attempts=${counters.attempts} commits=${counters.commits} " +
      s"interruptions=${counters.nested} versions read=${counters.verified} " +
      s"refused=${counters.refused} hash=${hash.toHexString}"
}

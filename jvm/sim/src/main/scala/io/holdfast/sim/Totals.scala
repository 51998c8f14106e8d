package io.holdfast.sim

import java.lang.management.ManagementFactory

import io.holdfast.sim.run.{Counters, Outcome}

/** What many histories had in them, in whatever order they were simulated. For one thread at a time. */
final class Totals {
  var histories = 0L
  var failures = 0L
  private[this] var withFamilies = 0L
  private[this] var withActions = 0L
  private[this] val counters = new Counters
  private[this] var operations = 0L
  private[this] var hash = 0L

  /** Operations on files that were made to fail. */
  def faults: Long = counters.faults

  /** Processes that were made to die, one at a time or all at once. */
  def crashes: Long = counters.crashes

  def add(outcome: Outcome): Unit = {
    histories += 1
    if (outcome.failure.isDefined) failures += 1
    if (outcome.plan.families.isDefined) withFamilies += 1
    if (outcome.plan.actions > 1) withActions += 1
    operations += outcome.operations
    counters.add(outcome.counters)
    hash += outcome.hash * (2 * outcome.seed + 1)
  }

  def describe(minutes: Double): String =
    f"$histories%d histories in $minutes%.1f minutes (${histories / minutes}%.0f a minute, " +
      f"${histories / Totals.processorMinutes}%.0f a minute of processor), " +
      s"$failures failed: with column families=$withFamilies " +
      s"with several actions=$withActions operations=$operations faults=${counters.faults} " +
      s"crashes=${counters.crashes} power losses=${counters.powerLosses} " +
      s"set back=${counters.setBacks} attempts=${counters.attempts} commits=${counters.commits} " +
      s"interruptions=${counters.nested} versions read=${counters.verified} " +
      s"refused=${counters.refused} hash=${hash.toHexString}"
}

private object Totals {

  /** What this process has used of processors, compiler and garbage collection included. */
  def processorMinutes: Double = ManagementFactory.getOperatingSystemMXBean match {
    case bean: com.sun.management.OperatingSystemMXBean => bean.getProcessCpuTime / 60e9
    case _ => Double.NaN
  }
}

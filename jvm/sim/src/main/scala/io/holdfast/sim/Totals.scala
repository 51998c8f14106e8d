package io.holdfast.sim

import io.holdfast.sim.run.Outcome

/** What many histories had in them. */
final class Totals {
  var histories = 0L
  var failures = 0L
  private[this] var operations = 0L
  private[this] var faults = 0L
  private[this] var crashes = 0L
  private[this] var powerLosses = 0L
  private[this] var attempts = 0L
  private[this] var commits = 0L
  private[this] var nested = 0L
  private[this] var verified = 0L
  private[this] var refused = 0L
  private[this] var hash = 0L

  def add(outcome: Outcome): Unit = {
    histories += 1
    if (outcome.failure.isDefined) failures += 1
    operations += outcome.operations
    faults += outcome.counters.faults
    crashes += outcome.counters.crashes
    powerLosses += outcome.counters.powerLosses
    attempts += outcome.counters.attempts
    commits += outcome.counters.commits
    nested += outcome.counters.nested
    verified += outcome.counters.verified
    refused += outcome.counters.refused
    hash = hash * 31 + outcome.hash
  }

  def describe(minutes: Double): String =
    f"$histories%d histories in $minutes%.1f minutes (${histories / minutes}%.0f a minute), " +
      s"$failures failed: operations=$operations faults=$faults crashes=$crashes " +
      s"power losses=$powerLosses attempts=$attempts commits=$commits interruptions=$nested " +
      s"versions read=$verified refused=$refused hash=${hash.toHexString}"
}

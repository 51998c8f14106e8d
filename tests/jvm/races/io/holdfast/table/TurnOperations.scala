package io.holdfast.table

import org.jetbrains.lincheck.datastructures.Operation

/** Turns in a transaction: linearizable, so no two threads are inside at once. */
class TurnOperations {
  private val turns = new OneAtATime
  private var count = 0

  @Operation
  def turn(): Int = {
    turns.enter()
    try {
      count += 1
      count
    } finally turns.leave()
  }

  @Operation
  def lastTurn(): Int =
    try turn()
    finally turns.handOver()
}

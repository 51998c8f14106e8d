package io.holdfast.transform

/** A provider that nodes of `transformWithState` take beside Holdfast's own. Benchmarks have some, to
  * measure what others cost.
  */
private[holdfast] trait TakenForHoldfast

package io.holdfast.store

/** Which call gives a replayed version for reading only. */
private[holdfast] object ReadOnlyReplay {

  /** Spark 4.2 reads the stores of a join by the call that gives writable ones. */
  def check(readOnly: Boolean): Unit = ()
}

package io.holdfast.store

/** Which call gives a replayed version for reading only. */
private[holdfast] object ReadOnlyReplay {

  /** Refuses to give a writable store for a readable one, as Spark's default provider does.
    *
    * @throws java.lang.IllegalArgumentException
    *   if a store for reading only is asked for
    */
  def check(readOnly: Boolean): Unit = require(
    !readOnly,
    "replayStateFromSnapshot gives a writable store; replayReadStateFromSnapshot gives one for " +
      "reading only")
}

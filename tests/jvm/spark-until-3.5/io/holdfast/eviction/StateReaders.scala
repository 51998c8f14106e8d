package io.holdfast.eviction

/** The queries whose state is read while they run: Spark 3.5 has no source for that. */
private[eviction] object StateReaders {
  val queries: Seq[String] = Nil
}

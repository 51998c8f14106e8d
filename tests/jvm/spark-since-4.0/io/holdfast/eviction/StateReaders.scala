package io.holdfast.eviction

/** The queries whose state is read while they run, by the `statestore` source that Spark has since 4.0. */
private[eviction] object StateReaders {
  val queries: Seq[String] = Seq("windows", "inner join")
}

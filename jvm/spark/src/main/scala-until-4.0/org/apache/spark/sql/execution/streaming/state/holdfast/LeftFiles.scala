package org.apache.spark.sql.execution.streaming.state.holdfast

/** What becomes of files that an earlier run of a query has left in the folder of a store. Spark before
  * 4.1 writes no checksums, and 4.1 reads a file without any, but none with those of another: a query that
  * has come down from it may go up again.
  */
object LeftFiles {

  /** Whether checksums of a file go when another file without any takes its place. */
  val checksumsGo: Boolean = true

  /** Whether snapshots of later versions go, when a query that begins anew comes to them, also those with
    * checksums of a query that has them off.
    */
  val checkedSnapshotsGo: Boolean = true
}

package org.apache.spark.sql.execution.streaming.state.holdfast

/** What becomes of files that an earlier run of a query has left in the folder of a store. From Spark
  * 4.2 on a query of checkpoint format 1 has no checksums. It may have had some with Spark 4.1, and go
  * back.
  */
object LeftFiles {

  /** Whether checksums of a file go when another file without any takes its place. */
  val checksumsGo: Boolean = true

  /** Whether snapshots of later versions go, when a query that begins anew comes to them, also those with
    * checksums of a query that has them off.
    */
  val checkedSnapshotsGo: Boolean = true
}

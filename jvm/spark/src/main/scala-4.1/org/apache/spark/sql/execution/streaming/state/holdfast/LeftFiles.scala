package org.apache.spark.sql.execution.streaming.state.holdfast

/** What becomes of files that an earlier run of a query has left in the folder of a store. The tests
  * that Spark 4.1 has for providers want all of them to stay (`StateStoreSuite`, "overwrite state file
  * without overwriting checksum file"): a run without checksums begins anew over the files of one with
  * them, the files are counted, and who has checksums again has to refuse what they are not of.
  */
object LeftFiles {

  /** Whether checksums of a file go when another file without any takes its place. */
  val checksumsGo: Boolean = false

  /** Whether snapshots of later versions go, when a query that begins anew comes to them, also those with
    * checksums of a query that has them off.
    */
  val checkedSnapshotsGo: Boolean = false
}

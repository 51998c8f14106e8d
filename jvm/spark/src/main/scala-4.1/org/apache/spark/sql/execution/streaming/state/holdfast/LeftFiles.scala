package org.apache.spark.sql.execution.streaming.state.holdfast

/** What becomes of files that an earlier run of a query has left in the folder of a store. The tests
  * that Spark 4.1 has for providers want all of them to stay (`StateStoreSuite`, "overwrite state file
  * without overwriting checksum file"): a run without checksums begins anew over the files of one with
  * them, the files are counted, and who has checksums again has to refuse what they are not of.
  */
object LeftFiles {

  /** Whether they go where they would be wrong in a query that has checksums off: those of a file when
    * another file takes its place, and snapshots of later versions, which may have some, when a query
    * that begins anew comes to them. Those that stay are written anew.
    */
  val go: Boolean = false
}

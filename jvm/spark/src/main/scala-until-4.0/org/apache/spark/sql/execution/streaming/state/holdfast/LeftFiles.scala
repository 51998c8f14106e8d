package org.apache.spark.sql.execution.streaming.state.holdfast

/** What becomes of files that an earlier run of a query has left in the folder of a store. Spark before
  * 4.1 writes no checksums, and 4.1 reads a file without any, but none with those of another: a query that
  * has come down from it may go up again.
  */
object LeftFiles {

  /** Whether they go where they would be wrong in a query that has checksums off: those of a file when
    * another file takes its place, and snapshots of later versions, which may have some, when a query
    * that begins anew comes to them.
    */
  val go: Boolean = true
}

package org.apache.spark.sql.execution.streaming.state.holdfast

/** What becomes of files that an earlier run of a query has left in the folder of a store. From Spark
  * 4.2 on a query of checkpoint format 1 has no checksums. It may have had some with Spark 4.1, and go
  * back.
  */
object LeftFiles {

  /** Whether they go where they would be wrong in a query that has checksums off: those of a file when
    * another file takes its place, and snapshots of later versions, which may have some, when a query
    * that begins anew comes to them.
    */
  val go: Boolean = true
}

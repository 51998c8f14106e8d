package io.holdfast.operators

/** Where a query was when its driver was killed: the newest batch that was planned and the newest that
  * was committed, and the partitions that had written the state of the former.
  */
final case class Killed(planned: Long, committed: Long, partitions: Set[Int])

object Killed {

  /** What is there of a query that was killed in a batch. */
  def found(folder: QueryFolder, killedIn: Long): Killed =
    Killed(folder.newest("offsets"), folder.newest("commits"), folder.partitionsWith(killedIn + 1))

  /** What has to be: the batch was not committed, and one of two partitions had written. */
  def expected(killedIn: Long): Killed = Killed(killedIn, killedIn - 1, partitions = Set(0))
}

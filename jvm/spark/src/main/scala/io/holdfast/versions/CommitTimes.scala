package io.holdfast.versions

/** Where the time of a commit went, in nanoseconds of the thread that commits: the parts add up to what
  * the commit took.
  *
  * @param records
  *   to begin the delta file, encode and compress the changes and write them; of many changes, which
  *   another thread writes while the version is made, what is left to wait for then
  * @param file
  *   to finish the file: until it lies in the checkpoint under its name
  * @param version
  *   to make the changes a version in memory, which moves rows out of sparse pages too
  * @param snapshot
  *   to publish the version, and to write its snapshot if that is all of the version's files
  */
final private[holdfast] case class CommitTimes(
    records: Long,
    file: Long,
    version: Long,
    snapshot: Long) {
  def total: Long = records + file + version + snapshot
}

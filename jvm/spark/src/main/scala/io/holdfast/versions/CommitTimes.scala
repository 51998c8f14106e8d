package io.holdfast.versions

/** Where the time of a commit went, in nanoseconds.
  *
  * @param records
  *   to begin the delta file, encode and compress the changes and write them
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

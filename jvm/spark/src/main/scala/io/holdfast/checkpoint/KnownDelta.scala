package io.holdfast.checkpoint

/** The delta of a version, as whoever wrote or read it knows it: enough to see whether that of another
  * attempt has taken its place, which has the same name in format 1 ([[StateFiles.isReplaced]]).
  */
sealed private[holdfast] trait KnownDelta {

  /** Its size. */
  def bytes: Long
}

private[holdfast] object KnownDelta {

  /** A delta that this provider wrote. When that was, only the file system knows.
    *
    * @param checksum
    *   CRC-32 of its bytes
    */
  final case class Written(bytes: Long, checksum: Long) extends KnownDelta

  /** A delta that a version was loaded from. */
  final case class Listed(bytes: Long, modifiedMillis: Long) extends KnownDelta
}

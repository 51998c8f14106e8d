package io.holdfast.checkpoint

/** The files that lead to a version.
  *
  * @param snapshot
  *   what a rebuild starts from; nothing if the deltas go back to the first version
  * @param deltas
  *   what follows, oldest first
  */
private[holdfast] final case class Chain(
    snapshot: Option[VersionedFile],
    deltas: List[VersionedFile]) {

  /** The version of the oldest file. */
  def firstNeeded: Long = snapshot.fold(1L)(_.version.number)

  def size: ChainSize = ChainSize(snapshot.map(_.bytes), deltas.size, deltas.map(_.bytes).sum)
}

/** How much there is to read for a version.
  *
  * @param snapshotBytes
  *   size of the snapshot file; nothing if there is none
  * @param deltas
  *   number of delta files
  * @param deltaBytes
  *   their sizes together
  */
private[holdfast] final case class ChainSize(
    snapshotBytes: Option[Long],
    deltas: Int,
    deltaBytes: Long) {

  /** What is left to read when there is a snapshot of a version that an older chain led to. */
  def since(older: ChainSize, snapshotBytes: Long): ChainSize =
    ChainSize(Some(snapshotBytes), deltas - older.deltas, deltaBytes - older.deltaBytes)

  /** With another delta. */
  def followedBy(bytes: Long): ChainSize =
    copy(deltas = deltas + 1, deltaBytes = deltaBytes + bytes)
}

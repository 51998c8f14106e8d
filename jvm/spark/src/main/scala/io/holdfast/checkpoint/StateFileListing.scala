package io.holdfast.checkpoint

import scala.annotation.tailrec

import org.apache.hadoop.fs.{FileStatus, Path}

import io.holdfast.file.StateFile

/** A delta or snapshot file by name.
  *
  * @param bytes
  *   its size
  * @param modifiedMillis
  *   when it was written, as the file system says
  * @param status
  *   what the file system says of it, and needs not be asked for again
  */
private[holdfast] final case class VersionedFile(
    version: VersionId,
    path: Path,
    kind: StateFile.Kind,
    bytes: Long,
    modifiedMillis: Long)(val status: FileStatus)

/** The state files of a store's folder at one moment. */
private[holdfast] final case class StateFileListing(
    files: Seq[VersionedFile],
    checksumFiles: Seq[Path]) {

  private lazy val byNumber: Map[Long, Seq[VersionId]] =
    files.map(_.version).distinct.groupBy(_.number)

  private lazy val deltas: Map[VersionId, VersionedFile] = ofKind(StateFile.Delta)

  private lazy val snapshots: Map[VersionId, VersionedFile] = ofKind(StateFile.Snapshot)

  /** The versions that have snapshots, of any attempt. */
  def snapshotNumbers: Set[Long] = snapshots.keySet.map(_.number)

  /** The largest version that any file belongs to. */
  def latestVersion: Option[Long] = byNumber.keysIterator.reduceOption(_ max _)

  /** The delta file of a version. */
  def delta(version: VersionId): Option[VersionedFile] = deltas.get(version)

  /** The snapshot file of a version. */
  def snapshot(version: VersionId): Option[VersionedFile] = snapshots.get(version)

  /** Whether a version without id has a snapshot that is older than its delta: that of an attempt
    * before.
    */
  def hasOlderSnapshot(version: VersionId): Boolean =
    version.id.isEmpty && snapshot(version).exists { snapshot =>
      delta(version).exists(_.modifiedMillis > snapshot.modifiedMillis)
    }

  /** The version and those before it that it was made from, newest first, as far back as there are
    * files of them. The version itself comes first also if it has no file.
    */
  def lineage(version: VersionId): Iterator[VersionId] =
    Iterator.iterate(Option(version))(_.flatMap(baseOf)).takeWhile(_.isDefined).flatten

  /** Snapshots in the lineage of a version, newest first. Without ids every older snapshot is one,
    * also beyond a missing delta.
    */
  def snapshotsFor(version: VersionId): Seq[VersionId] =
    if (version.id.isEmpty) {
      snapshots.keysIterator
        .filter(s => s.id.isEmpty && s.number <= version.number)
        .toSeq
        .sortBy(-_.number)
    } else lineage(version).filter(snapshots.contains).toSeq

  /** The delta files that lead to a version from an older one of its lineage, oldest first. A version
    * whose base is not in the folder ends the list, and starts with a number above `from + 1`.
    */
  def deltasBetween(from: Long, version: VersionId): Seq[VersionId] =
    if (version.id.isEmpty) (from + 1 to version.number).map(VersionId(_, None))
    else lineage(version).takeWhile(_.number > from).toSeq.reverse

  /** Size of the files that a rebuild of a version from a snapshot reads. */
  def bytesRead(snapshot: Long, version: VersionId): Long = {
    val base = lineage(version).find(_.number == snapshot).flatMap(snapshots.get)
    (base ++ deltasBetween(snapshot, version).flatMap(delta)).map(_.bytes).sum
  }

  /** The files that a rebuild of a version needs: the newest snapshot it can start from, and how many
    * deltas follow. Nothing if the chain is broken.
    */
  def chain(version: VersionId): Option[Chain] = chain(lineage(version), version.number, Nil)

  /** The oldest file that is needed to rebuild a version, also when the newest snapshot that it can
    * start from turns out to be unreadable: that of the snapshot before, if all deltas between the two
    * are there. Nothing if the chain is broken.
    */
  def firstNeededWithSpare(version: VersionId): Option[Long] = chain(version).map { nearest =>
    val spare = for {
      snapshot <- nearest.snapshot
      delta <- deltas.get(snapshot.version)
      before <- lineage(delta.version).drop(1).take(1).toSeq.headOption
      chain <- chain(before)
    } yield chain.firstNeeded
    spare.getOrElse(nearest.firstNeeded)
  }

  @tailrec
  private def chain(
      rest: Iterator[VersionId],
      expected: Long,
      later: List[VersionedFile]): Option[Chain] =
    if (expected == 0) Some(Chain(None, later))
    else if (!rest.hasNext) None
    else {
      val version = rest.next()
      if (version.number != expected) None
      else if (snapshots.contains(version)) Some(Chain(snapshots.get(version), later))
      else
        deltas.get(version) match {
          case Some(delta) => chain(rest, expected - 1, delta :: later)
          case None => None
        }
    }

  private def baseOf(version: VersionId): Option[VersionId] =
    byNumber.getOrElse(version.number - 1, Seq.empty).find(_.isBaseOf(version))

  private def ofKind(kind: StateFile.Kind): Map[VersionId, VersionedFile] =
    files.iterator.filter(_.kind == kind).map(file => file.version -> file).toMap
}

private[holdfast] object StateFileListing {
  // Nothing is tried twice: a folder may have many files.
  private val Name = s"(\\d{1,18}+)(?:_(${VersionId.IdPattern}))?+\\.(delta|snapshot)".r

  /** Other names are none of a store's business: folders of named stores, checksum files, what a
    * person put there.
    */
  def versioned(file: FileStatus): Option[VersionedFile] = file.getPath.getName match {
    case Name(number, id, suffix) =>
      val kind = if (suffix == StateFile.Delta.suffix) StateFile.Delta else StateFile.Snapshot
      val version = VersionId(number.toLong, Option(id))
      val path = file.getPath
      Some(VersionedFile(version, path, kind, file.getLen, file.getModificationTime)(file))
    case _ => None
  }
}

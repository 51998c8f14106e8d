package io.holdfast.store

import java.io.FileNotFoundException

import org.apache.hadoop.fs.Path

import io.holdfast.checkpoint.{StateFileListing, VersionId}
import io.holdfast.file.StateFile

/** The deltas of a range of versions, whose changes are to be shown. For one thread.
  *
  * @param start
  *   the first version
  * @param end
  *   the last one
  */
final private[store] class FeedFiles(store: StoreParts, start: Long, val end: VersionId) {

  val listing: StateFileListing = store.files.list()

  /** The version before the first. With ids that of an older one may not be known: then it has no
    * files.
    */
  def base: VersionId =
    listing.lineage(end).find(_.number == start - 1).getOrElse(VersionId(start - 1, None))

  private[this] val found = listing.deltasBetween(start - 1, end)

  /** Oldest first.
    *
    * @throws org.apache.spark.SparkException
    *   of class CANNOT_LOAD_STATE_STORE if the names of files do not lead back to the first version
    */
  lazy val deltas: Seq[VersionId] =
    if (found.headOption.forall(_.number == start)) found
    else {
      val path = store.files.deltasOf(start)
      throw missing(start, path, new FileNotFoundException(path.toString))
    }

  /** What reads a delta. One that is not there is an error that says from where on all are. */
  def read[A](delta: VersionId)(use: => A): A =
    try use
    catch {
      case e: FileNotFoundException =>
        throw missing(delta.number, store.files.path(StateFile.Delta, delta), e)
    }

  private def missing(number: Long, path: Path, e: FileNotFoundException): Throwable = {
    val later = found.reverseIterator
      .takeWhile(delta => delta.number > number && listing.delta(delta).isDefined)
      .map(_.number)
    // Version N is what batch N-1 made.
    store.failures.noChanges(number, path, later.reduceOption(_ min _).map(_ - 1), e)
  }
}

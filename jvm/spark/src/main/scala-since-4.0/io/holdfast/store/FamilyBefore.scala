package io.holdfast.store

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

import io.holdfast.checkpoint.VersionId
import io.holdfast.file.StateFile
import io.holdfast.table.{Family, FamilyChanges => SaidOfFamilies}

/** What a column family was in the version before some deltas.
  *
  * @param family
  *   the family, but for one that goes with the deltas: of that nothing is to be shown
  * @param mayGo
  *   whether there may have been one that goes with them, which no file says by its name
  */
final private[store] case class FamilyBefore(family: Option[Family], mayGo: Boolean)

/** Finds what a column family was in the version before some deltas. What files say of families is in
  * front of them, so no rows are read for it. The files that lead to the version say it, as long as they
  * are there. The oldest delta that cleanup leaves has none before it, and then a snapshot of a later
  * version does: what the deltas up to it have not defined it has as it was before them. For one thread.
  *
  * @param said
  *   what one of the deltas says of families
  */
final private[store] class FindFamilyBefore(
    store: StoreParts,
    feed: FeedFiles,
    name: String,
    said: VersionId => SaidOfFamilies)
    extends Logging {

  /** @throws org.apache.spark.SparkException
    *   of class CANNOT_LOAD_STATE_STORE if no files say it
    */
  def find(): FamilyBefore =
    byFilesBefore
      .orElse(bySnapshotAfter)
      .getOrElse(
        FamilyBefore(store.versions.open(feed.base).rows.families.get(name), mayGo = false))

  private def byFilesBefore: Option[FamilyBefore] =
    for {
      chain <- feed.listing.chain(feed.base)
      files = chain.snapshot ++ chain.deltas
      before <- ifReadable(files.map(file => store.files.families(file.kind, file.version)))
    } yield FamilyBefore(FamilyHistory.after(before, name), mayGo = false)

  // The oldest says most.
  private def bySnapshotAfter: Option[FamilyBefore] =
    feed.listing
      .snapshotsFor(feed.end)
      .reverseIterator
      .map(snapshot => snapshot -> feed.deltas.takeWhile(_.number <= snapshot.number))
      .filter(_._2.nonEmpty)
      .flatMap { case (snapshot, deltas) =>
        ifReadable(store.files.families(StateFile.Snapshot, snapshot)).flatMap(by(_, deltas))
      }
      .nextOption()

  private def by(later: SaidOfFamilies, deltas: Seq[VersionId]): Option[FamilyBefore] =
    deltas.indexWhere(ofName(_).isDefined) match {
      case -1 =>
        val family = later.defined.find(_.name == name)
        val mayGo = family.isEmpty && deltas.exists(said(_).removed.nonEmpty)
        Some(FamilyBefore(family, mayGo))
      case first =>
        // One that was there goes before this definition, or with it, if the id is given out anew. If
        // not, it may be the same family, and nothing says what its values were.
        val id = ofName(deltas(first)).get.id
        val isAnother = first == 0 || said(deltas(first)).removed.contains(id) ||
          deltas.take(first).exists { delta =>
            said(delta).removed.contains(id) || said(delta).defined.exists(_.id == id)
          }
        Option.when(isAnother)(FamilyBefore(None, mayGo = false))
    }

  private def ofName(delta: VersionId): Option[Family] = said(delta).defined.find(_.name == name)

  private def ifReadable[A](read: => A): Option[A] =
    try Some(read)
    catch {
      case NonFatal(e) =>
        logInfo(
          s"Looks into other files for the families of version ${feed.base} of ${store.context}: " +
            e.getMessage)
        None
    }
}

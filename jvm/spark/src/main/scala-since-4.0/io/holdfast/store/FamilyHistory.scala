package io.holdfast.store

import io.holdfast.checkpoint.VersionId
import io.holdfast.table.{Family, FamilyChanges => SaidOfFamilies}

/** What a column family is in the deltas of a range. For one thread.
  *
  * @param deltas
  *   the files, oldest first
  * @param before
  *   what it is in the version before the first of them
  * @param said
  *   what a delta says of families
  */
final private[store] class FamilyHistory(
    name: String,
    deltas: Seq[VersionId],
    before: FamilyBefore,
    said: VersionId => SaidOfFamilies) {
  import FamilyHistory._

  private[this] lazy val all =
    deltas.scanLeft(Moment(None, before.family, isRemoval = false))((last, delta) =>
      last.andThen(Some(delta), said(delta), name))

  /** Whether one of the versions has the family, or may have. */
  def isKnown: Boolean = before.mayGo || all.exists(_.family.isDefined)

  /** The deltas from which on the name is that of one family, each with the family as it leaves it. */
  lazy val steps: Seq[(VersionId, Family)] = {
    val sinceRemoval = all.drop(all.lastIndexWhere(_.isRemoval))
    for {
      moment <- sinceRemoval
      delta <- moment.delta
      family <- moment.family
    } yield delta -> family
  }

  /** The family as the last of the steps leaves it. */
  def newest: Family = steps.last._2

  /** The first batch after all those whose values are of a definition of the family, if there is one. */
  def end(family: Family): Option[Long] =
    steps.drop(steps.lastIndexWhere(_._2.valueSchema == family.valueSchema) + 1).headOption.map {
      case (delta, _) => delta.number - 1
    }
}

private[store] object FamilyHistory {

  /** The family as files leave it, by what each of them says of families, from a snapshot or the first
    * delta on.
    */
  def after(said: Iterable[SaidOfFamilies], name: String): Option[Family] =
    said.foldLeft(Moment(None, None, isRemoval = false))(_.andThen(None, _, name)).family

  /** @param isRemoval
    *   whether the delta removes the family that there was
    */
  final private case class Moment(
      delta: Option[VersionId],
      family: Option[Family],
      isRemoval: Boolean) {

    def andThen(next: Option[VersionId], said: SaidOfFamilies, name: String): Moment = {
      val isRemoved = family.exists(known => said.removed.contains(known.id))
      val left = if (isRemoved) None else family
      Moment(next, said.defined.find(_.name == name).orElse(left), isRemoved)
    }
  }
}

package io.holdfast.store

import io.holdfast.checkpoint.VersionId
import io.holdfast.table.{Family, FamilyChanges => SaidOfFamilies}

/** What a column family is in the deltas of a range. For one thread.
  *
  * @param deltas
  *   the files, oldest first
  * @param before
  *   the family in the version before the first of them
  * @param said
  *   what a delta says of families: that is in front of it, so to read it decompresses no more than the
  *   beginning
  */
final private[store] class FamilyHistory(
    name: String,
    deltas: Seq[VersionId],
    before: Option[Family],
    said: VersionId => SaidOfFamilies) {
  import FamilyHistory._

  private[this] lazy val all =
    deltas.scanLeft(Moment(None, before, isRemoval = false))((last, delta) =>
      last.andThen(delta, said(delta), name))

  /** Whether one of the versions has the family. */
  def isKnown: Boolean = all.exists(_.family.isDefined)

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

private object FamilyHistory {

  /** @param isRemoval
    *   whether the delta removes the family that there was
    */
  final private case class Moment(
      delta: Option[VersionId],
      family: Option[Family],
      isRemoval: Boolean) {

    def andThen(next: VersionId, said: SaidOfFamilies, name: String): Moment = {
      val isRemoved = family.exists(known => said.removed.contains(known.id))
      val left = if (isRemoved) None else family
      Moment(Some(next), said.defined.find(_.name == name).orElse(left), isRemoved)
    }
  }
}

package io.holdfast.table

/** Makes the next column families of a store out of those of its base. For one thread.
  *
  * @param tables
  *   where the rows of the families are
  * @param newWriter
  *   makes the writer of one of the tables
  */
private[table] final class FamiliesWriter(
    base: Families,
    tables: TableWriters,
    newWriter: (Int, Table) => TableWriter) {
  private[this] var known = base
  // Ids of families of the base whose rows are all gone.
  private[this] var removed = Set.empty[Int]

  def families: Families = known

  /** As [[Transaction.define]]. */
  def define(family: Family, keepsKeys: Boolean): Unit = {
    val next = known.updated(family)
    known.withId(family.id).filter(_ != family).foreach(redefine(_, family, keepsKeys))
    known = next
  }

  /** As [[Transaction.remove]]. */
  def remove(family: Family): Unit = {
    if (family.id == 0) {
      throw new IllegalArgumentException(s"column family '${family.name}' cannot be removed")
    }
    giveUp(family)
    known = known.without(family)
  }

  def changes: FamilyChanges =
    if (known eq base) FamilyChanges.none
    else {
      FamilyChanges(
        removed.toSeq.sorted,
        known.all.filter { family =>
          removed(family.id) || !base.withId(family.id).contains(family)
        })
    }

  // One without rows whose keys, or their number of values, are others is another family from here on,
  // as if it had been removed: what its delta has of those that went, and the order of a table that they
  // leave behind, are of the old definition. Where values alone are others it is the family that it was.
  private[this] def redefine(before: Family, family: Family, keepsKeys: Boolean): Unit = {
    val why = before.whyNotRowsOf(family)
    if (family.id == 0 || tables.keyCount(before.keyTable) > 0) {
      why.foreach(why => throw new IllegalArgumentException(why))
    } else if (why.isDefined || !keepsKeys && family.keySchema != before.keySchema) giveUp(before)
  }

  private[this] def giveUp(family: Family): Unit = {
    tables.drop(family.keyTable, newWriter)
    tables.drop(family.partTable, newWriter)
    if (base.withId(family.id).isDefined) removed += family.id
  }
}

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
  def define(family: Family): Unit = {
    val before = known.withId(family.id)
    val next = known.updated(family)
    // Tables without rows get the order of the new definition when they are asked for.
    if (family.id != 0 && before.exists(_.keyEncoder != family.keyEncoder)) {
      if (tables.of(family.keyTable, None, newWriter).applied().keyCount > 0) {
        throw new IllegalArgumentException(
          s"column family '${family.name}' has rows that are scanned by " +
            s"${before.map(_.keyEncoder).mkString}, and cannot be scanned by ${family.keyEncoder}")
      }
      dropTables(family)
    }
    known = next
  }

  /** As [[Transaction.remove]]. */
  def remove(family: Family): Unit = {
    if (family.id == 0) {
      throw new IllegalArgumentException(s"column family '${family.name}' cannot be removed")
    }
    dropTables(family)
    known = known.without(family)
    if (base.withId(family.id).isDefined) removed += family.id
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

  private[this] def dropTables(family: Family): Unit = {
    tables.drop(family.keyTable, newWriter)
    tables.drop(family.partTable, newWriter)
  }
}

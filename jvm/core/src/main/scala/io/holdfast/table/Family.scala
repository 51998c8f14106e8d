package io.holdfast.table

/** A column family: a name under which a store keeps rows of their own.
  *
  * Its rows lie in two tables of a version. One has a row for each key; the other one, of a family with
  * several values for a key, has what does not fit there ([[ListPart]]). What keys and values look like,
  * and how keys are scanned, is text that the engine keeps and does not read.
  *
  * @param id
  *   0 or more; 0 is that of the family that every store has
  * @param isInternal
  *   whether it is the operator's own rather than its user's
  * @param hasManyValues
  *   whether a key has a list of values
  */
final case class Family(
    id: Int,
    name: String,
    isInternal: Boolean,
    hasManyValues: Boolean,
    keyEncoder: String,
    keySchema: String,
    valueSchema: String) {

  /** Why rows of a family are none of another definition of it, if they are not. */
  private[table] def whyNotRowsOf(other: Family): Option[String] =
    if (name != other.name) {
      Some(s"column family '$name' has the id $id, and '${other.name}' cannot have it too")
    } else if (keyEncoder != other.keyEncoder) {
      Some(
        s"rows of column family '$name' are scanned by $keyEncoder, and cannot be scanned by " +
          other.keyEncoder)
    } else if (hasManyValues != other.hasManyValues) {
      Some(
        s"rows of column family '$name' have $valuesOfKey for a key, and cannot have " +
          other.valuesOfKey)
    } else None

  /** Number of the table with a row for each key. */
  def keyTable: Int = Family.TablesOfEach * id

  /** Number of the table with the parts of lists behind the first. */
  def partTable: Int = keyTable + 1

  private def valuesOfKey: String = if (hasManyValues) "several values" else "one value"
}

object Family {
  private[table] val TablesOfEach = 2

  /** Largest id that a family may have: it bounds what a damaged id can make anybody allocate. */
  val MaxId: Int = (1 << 16) - 1

  /** The id of the family that a table belongs to. */
  def idOfTable(number: Int): Int = number / TablesOfEach

  /** Whether a table has parts of lists. */
  def hasParts(number: Int): Boolean = number % TablesOfEach != 0
}

/** The column families of a version. Immutable; any thread may read. */
final class Families private (byId: Map[Int, Family], byName: Map[String, Family]) {

  def isEmpty: Boolean = byId.isEmpty

  def get(name: String): Option[Family] = byName.get(name)

  def withId(id: Int): Option[Family] = byId.get(id)

  /** All of them, in the order of their ids. */
  def all: Seq[Family] = byId.values.toSeq.sortBy(_.id)

  /** The smallest id above 0 that none of them has. */
  def freeId: Int = Iterator.from(1).find(!byId.contains(_)).get

  /** With a family, in place of the one with its id if there is one.
    *
    * @throws IllegalArgumentException
    *   if its name is that of another id
    */
  def updated(family: Family): Families = {
    byName.get(family.name).filter(_.id != family.id).foreach { other =>
      throw new IllegalArgumentException(
        s"column family '${family.name}' has the id ${other.id} and cannot have ${family.id} too")
    }
    val others = byId.get(family.id).fold(byName)(old => byName - old.name)
    new Families(byId.updated(family.id, family), others.updated(family.name, family))
  }

  def without(family: Family): Families = new Families(byId - family.id, byName - family.name)

  override def equals(other: Any): Boolean = other match {
    case other: Families => byId == other.all.iterator.map(family => family.id -> family).toMap
    case _ => false
  }

  override def hashCode: Int = byId.hashCode

  override def toString: String = all.map(_.name).mkString("Families(", ", ", ")")
}

object Families {
  val none: Families = new Families(Map.empty, Map.empty)
}

/** What a transaction has changed about the families of its store.
  *
  * @param removed
  *   ids of families of the base whose rows are all gone, before anything else is done: of those that are
  *   no more, and of those in whose place there are others, with other keys or another number of values
  * @param defined
  *   families that are new, or defined in another way than in the base
  */
final case class FamilyChanges(removed: Seq[Int], defined: Seq[Family])

object FamilyChanges {
  val none: FamilyChanges = FamilyChanges(Nil, Nil)

  /** What makes all families of a version out of nothing. */
  def all(families: Families): FamilyChanges = FamilyChanges(Nil, families.all)
}

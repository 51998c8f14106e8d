package io.holdfast.sim.world

/** What a version of a store holds. */
sealed trait Content

/** Of a store without column families. */
final case class RowContent(rows: Map[Key, Value]) extends Content

/** Of a store with column families, by their names.
  *
  * @param ends
  *   how many families of a name there have been before: they were removed, or others took their place
  */
final case class FamilyContents(
    byName: Map[String, FamilyContent],
    ends: Map[String, Int] = Map.empty)
    extends Content {

  def get(name: String): Option[FamilyContent] = byName.get(name)

  def updated(name: String, family: FamilyContent): FamilyContents =
    copy(byName = byName.updated(name, family))

  def without(name: String): FamilyContents =
    if (!byName.contains(name)) this
    else FamilyContents(byName - name, ends.updated(name, endsOf(name) + 1))

  /** How many families of a name there have been before the one that there is. */
  def endsOf(name: String): Int = ends.getOrElse(name, 0)

  /** With a family as it is defined. It is the one that it was if its keys are, and their number of
    * values.
    */
  def defined(name: String, kind: FamilyKind): FamilyContents = {
    val before = byName.get(name)
    val goesOn = before.forall(family => kind.takes(family.kind, evolves = true))
    val others = if (goesOn) this else without(name)
    others.updated(name, FamilyContent(kind, before.fold(FamilyContents.NoRows)(_.rows)))
  }

  /** With the family that every store has from when it is first written. */
  def withDefault(kind: FamilyKind): FamilyContents =
    if (byName.contains(FamilyContents.Default)) this
    else updated(FamilyContents.Default, FamilyContent(kind, Map.empty))

  /** How many keys a store tells of: not those of the operator's own families. */
  def keyCount: Int =
    byName.iterator.collect {
      case (name, family) if !FamilyContents.isInternal(name) => family.rows.size
    }.sum
}

object FamilyContents {
  val Default = "default"
  val none: FamilyContents = FamilyContents(Map.empty)
  private val NoRows = Map.empty[Key, Vector[Value]]

  /** Whether a name is that of a family that is the operator's own, as Spark has it. */
  def isInternal(name: String): Boolean = name.startsWith("$")
}

/** What a column family holds. A key without values is not there. */
final case class FamilyContent(kind: FamilyKind, rows: Map[Key, Vector[Value]]) {

  def values(key: Key): Vector[Value] = rows.getOrElse(key, Vector.empty)

  def updated(key: Key, values: Vector[Value]): FamilyContent =
    copy(rows = if (values.isEmpty) rows - key else rows.updated(key, values))

  def without(keys: Iterable[Key]): FamilyContent = copy(rows = rows -- keys)

  def ofGroup(group: Long): FamilyContent = copy(rows = rows.filter(_._1.group == group))

  /** Those from one key, which belongs to them, to another, which does not. */
  def between(from: Key, until: Key): FamilyContent = copy(rows = rows.filter { case (key, _) =>
    if (kind.scan == Scan.GroupTimes)
      key.group == from.group && from.id <= key.id && key.id < until.id
    else !isBefore(key, from) && isBefore(key, until)
  })

  private def isBefore(one: Key, other: Key): Boolean =
    one.id < other.id || one.id == other.id && one.group < other.group
}

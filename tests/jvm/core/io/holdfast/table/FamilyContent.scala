package io.holdfast.table

/** What a version with column families holds, in plain values. */
object FamilyContent {
  type Value = Vector[Byte]

  /** The values of each key of each family. */
  type Content = Map[String, Map[Value, Vector[Value]]]

  def of(version: Version): Content =
    version.families.all.map(family => family.name -> of(version, family)).toMap

  def of(version: Version, family: Family): Map[Value, Vector[Value]] =
    rowsOf(
      version.table(family.keyTable).cursor(),
      new ListCursor(version.table(family.partTable)),
      family)

  def rowsOf(rows: RowCursor, lists: ListCursor, family: Family): Map[Value, Vector[Value]] = {
    val content = Map.newBuilder[Value, Vector[Value]]
    while (rows.next()) {
      val values =
        if (family.hasManyValues) valuesOf(lists, rows.page, rows.offset)
        else Vector(valueAt(rows.page, rows.offset))
      content += keyAt(rows.page, rows.offset) -> values
    }
    content.result()
  }

  def valuesOf(lists: ListCursor, page: Array[Byte], offset: Int): Vector[Value] = {
    lists.open(page, offset)
    rest(lists)
  }

  /** The values that a walk still has before it. */
  def rest(lists: ListCursor): Vector[Value] =
    Iterator
      .continually(lists.next())
      .takeWhile(identity)
      .map(_ => lists.page.slice(lists.offset, lists.offset + lists.length).toVector)
      .toVector

  def keyAt(page: Array[Byte], offset: Int): Value = {
    val start = RowRecord.keyOffset(offset)
    page.slice(start, start + RowRecord.keyLength(page, offset)).toVector
  }

  def valueAt(page: Array[Byte], offset: Int): Value = {
    val start = RowRecord.valueOffset(page, offset)
    page.slice(start, start + RowRecord.valueLength(page, offset)).toVector
  }
}

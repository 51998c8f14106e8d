package io.holdfast.store

import io.holdfast.families.{
  DefinedFamilies,
  FamilyDefinition,
  FamilyNames,
  ListRowReader,
  OpenFamilies
}
import io.holdfast.rows.RowReader
import io.holdfast.versions.StartingVersion

/** A version of a store with column families for reading. For one thread.
  *
  * @param store
  *   as for [[HoldfastReadStateStore]]
  */
final private[holdfast] class FamilyReadStateStore(start: StartingVersion, store: StoreParts)
    extends HoldfastReadStateStore(start, store)
    with ToldFamilies {
  private[this] val defined = DefinedFamilies.of(context)
  private[this] val open = new OpenFamilies[RowReader](openFamily)

  override protected def readerOf(operation: String, colFamilyName: String): RowReader =
    open(operation, colFamilyName)

  override protected def familyNames: Set[String] = start.rows.families.all.map(_.name).toSet

  override protected def told(definition: FamilyDefinition): Unit = {
    val _ = defined.defined(definition)
  }

  // A reader of state is told of a family before it reads a version that may be older than the family.
  private def openFamily(operation: String, name: String): RowReader = {
    val family = start.rows.families
      .get(name)
      .orElse(defined.said(name))
      .getOrElse(throw FamilyNames.missing(operation, name))
    val format = defined.format(family)
    val rows = start.rows.table(family.keyTable, format.order, walks)
    if (family.hasManyValues) {
      new ListRowReader(format, rows, start.rows.table(family.partTable), counts, walks)
    } else new RowReader(format, rows, counts, walks)
  }
}

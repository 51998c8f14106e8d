package io.holdfast.rows

import io.holdfast.file.FamilyReplay
import io.holdfast.table.{Family, RowOrder}

/** What a store with column families knows of them. Any thread may call. */
private[holdfast] trait StoreFamilies extends FamilyReplay.Orders {

  /** How the rows of a family look and are scanned.
    *
    * @throws java.lang.IllegalStateException
    *   if its definition says what this Spark does not know
    */
  def format(family: Family): RowFormat

  override def of(family: Family): Option[RowOrder] = format(family).order
}

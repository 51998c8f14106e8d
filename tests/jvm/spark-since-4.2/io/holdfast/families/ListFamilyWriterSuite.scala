package io.holdfast.families

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.rows.RowCounts
import io.holdfast.table.{Family, ListWriter, Version}
import io.holdfast.testkit.TestRows

/** Lists that cannot be changed to the end. */
class ListFamilyWriterSuite extends AnyFunSuite {

  test("values of which one cannot be read leave a transaction that commits none of them") {
    val family = Family(1, "lists", false, true, "", "key", "value")
    val rows = Version.empty.open()
    rows.define(family)
    val writer = new ListFamilyWriter(
      new ListWriter(rows.table(family.keyTable), rows.table(family.partTable), false),
      new RowCounts)
    val values = Array.tabulate(100)(n => TestRows.value(n.toLong).copy()) :+ null
    val e = intercept[NullPointerException] {
      writer.change("merge", FamilyRows.key(1, 1L), values, append = true)
    }
    assert(intercept[IllegalStateException](rows.commit()).getCause eq e)
    rows.abort()
  }
}

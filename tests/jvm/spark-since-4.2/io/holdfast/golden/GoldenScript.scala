package io.holdfast.golden

import io.holdfast.testkit.{Change, Put, Remove, TestRows}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The history of every golden store: new, overwritten and removed rows, a version without changes,
  * a snapshot in the middle, rows without name or note.
  */
object GoldenScript {

  /** The changes of version 1, 2, ... */
  val versions: Seq[Seq[Change]] = Seq(
    Seq(
      Put("a", 1, "first"),
      Put("b", 2),
      Put("c", 3, ""),
      Put(null, 4, "a row whose name is null"),
      Put("größer ☃ 𝄞", -5, "long " * 60)),
    Seq(Put("a", 10, "overwritten"), Put("a", 11, "twice in a version"), Remove("b")),
    Seq(),
    Seq(Put("b", 20, "back again"), Remove("never there")),
    Seq(Put("d", Long.MinValue), Put("e", 0, "gone at once"), Remove("e"), Remove("c")),
    Remove(null) +: (0 until 20).map(n => Put(s"row $n", n * 1000000007L, "." * n)))

  /** The version that has a snapshot beside its delta. */
  val snapshotVersion: Long = 4

  /** The rows of version 1, 2, ... */
  val states: Seq[TestRows.State] =
    versions
      .scanLeft(Map.empty: TestRows.State) { (state, changes) =>
        changes.foldLeft(state)((rows, change) => change.applyTo(rows))
      }
      .tail

  def expected(codec: String, rowChecksums: Boolean): Expected = {
    val empty =
      Expected(codec, rowChecksums, TestRows.keySchema, TestRows.valueSchema, versions = Map.empty)
    empty.copy(versions = states.zipWithIndex.map { case (state, at) =>
      (at + 1L) -> state.map { case (key, value) => empty.row(row(key, 1), row(value, 2)) }.toSet
    }.toMap)
  }

  private def row(image: TestRows.Row, columns: Int): UnsafeRow = {
    val row = new UnsafeRow(columns)
    row.pointTo(image.bytes.toArray, image.bytes.length)
    row
  }
}

package io.holdfast.file

import java.io.InputStream
import java.nio.charset.StandardCharsets.UTF_8

import io.holdfast.table.{Family, FamilyChanges}

/** Reads the content of a delta or snapshot file of a store with column families: first
  * [[families]], once, and then the records. For one thread.
  *
  * @param in
  *   as for [[RecordReader]]
  */
final class FamilyRecordReader(in: InputStream, file: StateFile, rowChecksums: Boolean)
    extends RecordReader(in, file, rowChecksums) {
  import FamilyRecordReader._

  private[this] val isDelta = file.kind == StateFile.Delta
  private[this] var number = 0
  private[this] var rewritten = false

  /** Number of the table that the current record is of. */
  def table: Int = number

  /** Whether the current record only says in other columns what the version before says of its key. */
  def isRewritten: Boolean = rewritten

  /** What the file says of families.
    *
    * @throws StateFileException
    *   if the file ends early or holds what no writer writes
    */
  def families(): FamilyChanges = {
    val removed = list("removed families")(id())
    if (removed.nonEmpty && file.kind == StateFile.Snapshot) {
      refuse(s"expected a snapshot that removes no families, found ${removed.size}")
    }
    FamilyChanges(removed, list("families")(family()))
  }

  override def next(): Boolean = {
    val said = takeInt("the number of a table or the end marker")
    rewritten = isDelta && said > 0 && (said & RecordFlags.Rewritten) != 0
    number = if (rewritten) said & ~RecordFlags.Rewritten else said
    if (number == StateFile.EndMarker) false
    else if (number < 0 || Family.idOfTable(number) > Family.MaxId) {
      refuse(s"expected the number of a table (0 or more, or -1 at the end), found $number")
    } else if (!super.next()) refuse("expected a record behind the number of a table, found none")
    else true
  }

  /** Says what is wrong with the file at this place. */
  def refuse(what: String): Nothing = throw new InvalidRowException(file, offset, what)

  // Memory grows with what is read, not with the count.
  private def list[A](what: String)(one: => A): Seq[A] = {
    var left = takeInt(s"the number of $what")
    if (left < 0 || left > Family.MaxId + 1) {
      refuse(s"expected at most ${Family.MaxId + 1} $what, found $left")
    }
    val all = Seq.newBuilder[A]
    while (left > 0) {
      all += one
      left -= 1
    }
    all.result()
  }

  private def id(): Int = {
    val id = takeInt("the id of a family")
    if (id < 0 || id > Family.MaxId) {
      refuse(s"expected the id of a family, from 0 to ${Family.MaxId}, found $id")
    }
    id
  }

  private def family(): Family = {
    val number = id()
    val flags = takeBytes(1, "the flags of a family")(0).toInt
    if ((flags & ~FamilyFlags.Known) != 0) {
      refuse(s"expected no flags of a family but ${FamilyFlags.Known}, found $flags")
    }
    Family(
      number,
      name = text("the name of a family"),
      isInternal = FamilyFlags.isInternal(flags),
      hasManyValues = FamilyFlags.hasManyValues(flags),
      keyEncoder = text("the key encoder of a family"),
      keySchema = text("the key schema of a family"),
      valueSchema = text("the value schema of a family"))
  }

  private def text(what: String): String = {
    val length = takeInt(s"the length of $what")
    if (length < 0 || length > MaxTextBytes) {
      refuse(s"expected $what of at most $MaxTextBytes bytes, found $length")
    }
    new String(takeBytes(length, what), UTF_8)
  }
}

private object FamilyRecordReader {
  private val MaxTextBytes = 1 << 24
}

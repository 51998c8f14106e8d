package io.holdfast.file

import java.io.OutputStream
import java.nio.charset.StandardCharsets.UTF_8

import io.holdfast.table.{Changes, Family, FamilyChanges, RowRecord, Version}

/** Writes the content of a delta or snapshot file of a store with column families: the families, and the
  * records of all tables, each with the number of its table in front (`jvm/FORMAT.md`). For one thread.
  *
  * @param out
  *   as for [[RecordWriter]]
  */
final class FamilyRecordWriter(out: OutputStream, rowChecksums: Boolean)
    extends RecordWriter(out, rowChecksums) {

  private[this] var tellsChanges = false

  override def write(changes: Changes): Unit = {
    tellsChanges = true
    writeFamilies(changes.families)
    super.write(changes)
  }

  /** Begins a snapshot of a version whose rows follow. */
  def begin(version: Version): Unit = writeFamilies(FamilyChanges.all(version.families))

  override def put(page: Array[Byte], offset: Int): Unit = {
    val table = RowRecord.table(page, offset)
    val isRewritten = tellsChanges && RowRecord.isRewritten(page, offset)
    writeInt(if (isRewritten) table | RecordFlags.Rewritten else table)
    super.put(page, offset)
  }

  override def remove(page: Array[Byte], offset: Int): Unit = {
    writeInt(RowRecord.table(page, offset))
    super.remove(page, offset)
  }

  private def writeFamilies(families: FamilyChanges): Unit = {
    writeInt(families.removed.size)
    families.removed.foreach(writeInt)
    writeInt(families.defined.size)
    families.defined.foreach(writeFamily)
  }

  private def writeFamily(family: Family): Unit = {
    writeInt(family.id)
    write(Array(FamilyFlags.of(family)), 0, 1)
    Seq(family.name, family.keyEncoder, family.keySchema, family.valueSchema).foreach { text =>
      val bytes = text.getBytes(UTF_8)
      writeInt(bytes.length)
      write(bytes, 0, bytes.length)
    }
  }
}

/** What stands beside the number of a table in front of a record. */
private[file] object RecordFlags {

  /** In deltas: the value says in other columns what the version before says. */
  val Rewritten: Int = 1 << 30
}

/** The byte that says what kind of family one is. */
private[file] object FamilyFlags {
  private val Internal = 1
  private val ManyValues = 2

  /** All that a reader knows. */
  val Known: Int = Internal | ManyValues

  def of(family: Family): Byte =
    ((if (family.isInternal) Internal else 0) | (if (family.hasManyValues) ManyValues
                                                 else 0)).toByte

  def isInternal(flags: Int): Boolean = (flags & Internal) != 0

  def hasManyValues(flags: Int): Boolean = (flags & ManyValues) != 0
}

package io.holdfast.file

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.table.{
  Changes,
  Family,
  FamilyContent,
  Keys,
  ListWriter,
  TableInvariants,
  Version
}

/** Files of stores with column families that are not what they should be. */
class FamilyFileSuite extends AnyFunSuite {

  private val one = Family(1, "one", false, false, "", "key of one", "value of one")
  private val many = Family(2, "many", true, true, "", "key of many", "value of many")

  private def baseWith(checksums: Boolean) = Keys.changed(Version.empty) { rows =>
    rows.define(one)
    rows.define(many.copy(id = 3, name = "gone"))
    (0L until 4L).foreach { number =>
      val key = Keys.key(number)
      val value = java.util.Arrays.copyOf(key, 16)
      RowChecksum.putTrailer(value, 8, RowChecksum.of(key, 0, 8, value, 0, 8))
      rows.table(one.keyTable).put(key, 0, key.length, value, 0, if (checksums) 16 else 8)
    }
  }

  private val base = baseWith(checksums = false)

  private def change(checksums: Boolean): (Array[Byte], Array[Byte], Version) = {
    val rows = baseWith(checksums).open()
    rows.remove(rows.families.get("gone").get)
    rows.define(many)
    val key = Keys.key(7L)
    rows.table(one.keyTable).remove(Keys.key(2L), 0, Keys.bytes)
    val lists = new ListWriter(rows.table(many.keyTable), rows.table(many.partTable), checksums)
    lists.begin(key, 0, key.length, append = true)
    (1 to 5).foreach(n => lists.add(Array.fill(400)(n.toByte), 0, 400))
    lists.finish()
    val delta = FamilyFiles.ofChanges(rows.changes(), checksums)
    val version = rows.commit()
    (delta, FamilyFiles.ofVersion(version, checksums), version)
  }

  private val (delta, snapshot, version) = change(checksums = false)

  private def replayed(
      bytes: Array[Byte],
      file: StateFile,
      onto: Version,
      checksums: Boolean = false): Version =
    Keys.changed(onto) { rows =>
      val _ = FamilyFiles.replay(bytes, file, rows, checksums)
    }

  // Bytes in front of the first block: what an empty file has, but for its one block of four bytes and
  // the end block.
  private val header = FamilyFiles.written(FamilyFiles.delta, false)(_ => ()).length - 8 - 4 - 8

  private val files =
    Seq(
      ("delta", delta, FamilyFiles.delta, base),
      ("snapshot", snapshot, FamilyFiles.snapshot, Version.empty))

  files.foreach { case (name, bytes, file, onto) =>
    test(s"a $name leads to the version that it was written of") {
      val read = replayed(bytes, file, onto)
      assert(FamilyContent.of(read) === FamilyContent.of(version))
      assert(TableInvariants.firstViolation(read) === None)
      assert(read.families === version.families)
    }

    test(s"every byte of a $name that is another one is damage") {
      bytes.indices.foreach { at =>
        Seq(1, 0x80, 0xff).foreach { bits =>
          val flipped = bytes.clone()
          flipped(at) = (flipped(at) ^ bits).toByte
          withClue(s"byte $at of ${bytes.length}: ") {
            val e = intercept[StateFileException](replayed(flipped, file, onto))
            assert(e.getMessage.contains(s"${file.kind.word} ${file.name} of version 2 is damaged"))
          }
        }
      }
    }

    test(s"every beginning of a $name is damage, and so is what follows its end") {
      bytes.indices.foreach { length =>
        withClue(s"$length bytes of ${bytes.length}: ") {
          intercept[StateFileException](replayed(bytes.take(length), file, onto))
        }
      }
      intercept[StateFileException](replayed(bytes :+ 0.toByte, file, onto))
    }
  }

  test("rows are read with checksums and without, whatever the store keeps") {
    val (withChecksums, all, _) = change(checksums = true)
    val read = replayed(withChecksums, FamilyFiles.delta, base)
    assert(FamilyContent.of(read)("many") === FamilyContent.of(version)("many"))
    val kept = replayed(all, FamilyFiles.snapshot, Version.empty, checksums = true)
    val added = replayed(snapshot, FamilyFiles.snapshot, Version.empty, checksums = true)
    assert(
      FamilyFiles.ofVersion(kept, checksums = true) === FamilyFiles
        .ofVersion(added, checksums = true))
  }

  private def refused(what: String)(write: FamilyRecordWriter => Unit): Assertion = {
    val bytes = FamilyFiles.written(FamilyFiles.delta, checksums = false)(write)
    val e = intercept[StateFileException](replayed(bytes, FamilyFiles.delta, base))
    assert(e.getMessage.contains(what))
  }

  /** A record of a table, from a version that has the table as a family's. */
  private def recordOf(family: Family, table: Int)(writer: FamilyRecordWriter): Unit = {
    val source = Keys.changed(Version.empty) { rows =>
      rows.define(family)
      val key = Keys.key(1L)
      rows.table(table).put(key, 0, key.length, key, 0, key.length)
    }
    writer.putAll(source.cursorOfAll())
  }

  test("what does not fit the families of the version before is damage") {
    refused("expected a table of a family that is there, found table 18") { writer =>
      writer.write(base.open().changes())
      recordOf(many.copy(id = 9), 18)(writer)
    }
    refused("expected one value for a key of family 'one', found lists") { writer =>
      writer.write(base.open().changes())
      recordOf(one, one.partTable)(writer)
    }
    refused("expected a list with 16 bytes in front, found 8 bytes") { writer =>
      writer.write(base.open().changes())
      recordOf(many.copy(id = 3, name = "gone"), 6)(writer)
    }
    refused("column family 'one' has the id 1 and cannot have 5 too") { writer =>
      writer.write(defining(one.copy(id = 5)))
    }
    val removal = Keys.changed(Version.empty)(_.define(many.copy(id = 8))).open()
    removal.remove(many.copy(id = 8))
    refused("expected the id of a family that can be removed, found 8")(_.write(removal.changes()))
  }

  private def defining(family: Family): Changes = {
    val rows = Version.empty.open()
    rows.define(family)
    rows.changes()
  }

  test("a header of another kind is refused by what it says") {
    val other = intercept[StateFileException](replayed(snapshot, FamilyFiles.delta, base))
    assert(other.getMessage.contains("expected the kind 'D', found 'S'"))
    val newer = delta.clone()
    newer(11) = 2
    val e = intercept[StateFileException](replayed(newer, FamilyFiles.delta, base))
    assert(e.getMessage.contains("expected format version 1, found 2"))
    val spark = intercept[StateFileException](replayed(Array.fill(64)(1), FamilyFiles.delta, base))
    assert(spark.getMessage.contains("expected the magic HOLDFAST"))
  }

  test("a length that cannot be is refused before anything is allocated for it") {
    val huge = delta.clone()
    (0 until 4).foreach(i => huge(header + i) = 0x7f)
    val e = intercept[StateFileException](replayed(huge, FamilyFiles.delta, base))
    assert(e.getMessage.contains(s"expected a block 0 of at most 1048576 bytes, found one of"))
  }

  test("a file of many blocks is one stream") {
    val large = Keys.changed(Version.empty) { rows =>
      rows.define(one)
      (0L until 20000L).foreach { number =>
        val key = Keys.key(number)
        rows.table(one.keyTable).put(key, 0, key.length, key, 0, key.length)
      }
    }
    val bytes = FamilyFiles.ofVersion(large)
    assert(bytes.length > 5 * (1 << 16))
    val read = replayed(bytes, FamilyFiles.snapshot, Version.empty)
    assert(FamilyContent.of(read) === FamilyContent.of(large))
    // Each block is right, and not in its place.
    val blocks = bytes.drop(header).grouped(8 + (1 << 16)).toSeq
    val swapped = bytes.take(header) ++ blocks(1) ++ blocks(0) ++ blocks.drop(2).flatten
    val e = intercept[StateFileException](replayed(swapped, FamilyFiles.snapshot, Version.empty))
    assert(e.getMessage.contains("expected a block 0 with the checksum"))
  }
}

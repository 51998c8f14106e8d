package io.holdfast.fuzz

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}

import io.holdfast.file.{FamilyRecordReader, FamilyRecordWriter, FamilyReplay, StateFile}
import io.holdfast.table.{Family, Version}

/** The content of a file of a store with column families, without blocks and codec: it makes a version,
  * a snapshot of which leads to it again, or is damaged.
  */
object Families extends Target {

  override def seeds: Seq[Array[Byte]] = contents.map(_.encoded)

  private lazy val contents: Seq[Input] =
    Golden.familyFiles.filter(_.codec == Input.codecs.head).map(FamilyFiles.content)

  /** The families that files which are right define. */
  private[fuzz] def defined: Seq[Family] = contents.flatMap(reader(_).families().defined)

  override def read(encoded: Array[Byte]): Boolean = {
    val input = Input.of(encoded)
    val version = Target.unlessDamaged(replayed(input), input.bytes.length.toLong)
    version.foreach(checkWritten(_, input.rowChecksums))
    version.isDefined
  }

  private def reader(input: Input): FamilyRecordReader =
    new FamilyRecordReader(new ByteArrayInputStream(input.bytes), input.file, input.rowChecksums)

  /** What an input makes of the version before it, which a snapshot has none of. */
  private def replayed(input: Input): Version = {
    val before =
      if (input.kind == StateFile.Delta) bases(input.rowChecksums) else Vector(Version.empty)
    replayed(input, before(input.base % before.size))
  }

  private def replayed(input: Input, before: Version): Version = {
    val rows = before.open()
    val _ = new FamilyReplay(rows, reader(input), input.rowChecksums, _ => None).run()
    rows.commit()
  }

  private def checkWritten(version: Version, rowChecksums: Boolean): Unit = {
    val out = new ByteArrayOutputStream
    val records = new FamilyRecordWriter(out, rowChecksums)
    records.begin(version)
    records.putAll(version.cursorOfAll())
    records.finish()
    val read =
      replayed(Input(StateFile.Snapshot, rowChecksums, Input.codecs.head, out.toByteArray))
    Target.check(
      read.families.all == version.families.all,
      s"a snapshot has ${read.families.all}, and not ${version.families.all}")
    Target.check(Content.of(read) == Content.of(version), "a snapshot holds something else")
  }

  // The versions of the stores whose files are the seeds.
  private lazy val bases: Map[Boolean, Vector[Version]] =
    contents.filter(_.kind == StateFile.Delta).groupBy(_.rowChecksums).map {
      case (rowChecksums, deltas) =>
        rowChecksums -> deltas
          .sortBy(_.base)
          .scanLeft(Version.empty)((v, d) => replayed(d, v))
          .toVector
    }
}

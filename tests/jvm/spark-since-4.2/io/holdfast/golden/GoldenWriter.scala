package io.holdfast.golden

import java.nio.file.Files
import java.util.Comparator

import scala.util.Using

import io.holdfast.session.BuildInfo
import io.holdfast.testkit.{Provider, Put, Remove, StateFileBytes, TestRows, TestStore}
import io.holdfast.testkit.StateFileBytes.Record

/** Writes the golden stores anew, those of the Spark line that runs and those made by hand. */
object GoldenWriter {

  /** Whether the environment asks for it: `HOLDFAST_WRITE_GOLDEN=1`. */
  def asked: Boolean = sys.env.get("HOLDFAST_WRITE_GOLDEN").contains("1")

  def writeAll(): Unit = {
    GoldenStore.ofLine(BuildInfo.current.sparkLine).foreach(writeBySpark)
    writeByHand(GoldenStore.withOddValues)
  }

  private def writeBySpark(golden: GoldenStore): Unit = {
    begin(golden)
    val settings = golden.settings.by(Provider.Spark)
    Using.resource(new TestStore(settings, golden.root)) { store =>
      GoldenScript.versions.zipWithIndex.foreach { case (changes, base) =>
        if (base + 1 == GoldenScript.snapshotVersion) store.commitWithSnapshot(base, changes: _*)
        else store.commit(base, changes: _*)
      }
    }
  }

  private def writeByHand(golden: GoldenStore): Unit = {
    begin(golden)
    GoldenScript.versions.zipWithIndex.foreach { case (changes, base) =>
      val records = changes.map {
        case Put(name, count, note) =>
          Record(
            TestRows.key(name).getBytes.toSeq,
            Some(odd(TestRows.value(count, note).getBytes.toSeq)))
        case Remove(name) => Record(TestRows.key(name).getBytes.toSeq, None)
      }
      write(golden, s"${base + 1}.delta", records)
    }
    val snapshot = GoldenScript.states(GoldenScript.snapshotVersion.toInt - 1)
    write(
      golden,
      s"${GoldenScript.snapshotVersion}.snapshot",
      snapshot.toSeq.map { case (key, value) => Record(key.bytes, Some(odd(value.bytes))) })
  }

  private def odd(value: Seq[Byte]): Seq[Byte] = value ++ Seq[Byte](1, 2, 3, 4)

  private def write(golden: GoldenStore, name: String, records: Seq[Record]): Unit = {
    Files.write(golden.stateFolder.resolve(name), StateFileBytes.file(golden.codec, records: _*))
    ()
  }

  private def begin(golden: GoldenStore): Unit = {
    if (Files.exists(golden.folder)) {
      Using.resource(Files.walk(golden.folder)) {
        _.sorted(Comparator.reverseOrder()).forEach(Files.delete(_))
      }
    }
    Files.createDirectories(golden.stateFolder)
    golden.write(GoldenScript.expected(golden.codec, golden.rowChecksums))
  }
}

package io.holdfast.families

import java.nio.file.Files
import java.util.Comparator

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.json4s._
import org.json4s.jackson.JsonMethods
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.golden.GoldenWriter
import io.holdfast.testkit.{TemporaryFolder, TestStore}

/** The stores in `tests/golden-families`, read at every version. With `HOLDFAST_WRITE_GOLDEN=1` in the
  * environment they are written anew first.
  */
class GoldenFamiliesSuite extends AnyFunSuite with BeforeAndAfterAll {

  override protected def beforeAll(): Unit =
    if (GoldenWriter.asked) GoldenFamilies.all.foreach(write)

  private def write(golden: GoldenFamilies): Unit = {
    if (Files.exists(golden.folder)) {
      Using.resource(Files.walk(golden.folder)) {
        _.sorted(Comparator.reverseOrder()).forEach(Files.delete(_))
      }
    }
    Using.resource(new TestStore(golden.settings, golden.root)) { store =>
      GoldenFamilies.versions.zipWithIndex.foreach { case (change, base) =>
        val rows = store.write(base.toLong, base + 1 == GoldenFamilies.snapshotVersion)
        change(rows)
        rows.commit()
        store.awaitSnapshots()
      }
      Using.resource(Files.list(store.folder)) { files =>
        files.iterator.asScala.filter(_.getFileName.toString.startsWith(".")).foreach(Files.delete)
      }
    }
    val made = JObject(
      "codec" -> JString(golden.codec),
      "rowChecksums" -> JBool(golden.rowChecksums),
      "versions" -> contents(golden))
    Files.writeString(golden.expectedFile, s"${JsonMethods.pretty(JsonMethods.render(made))}\n")
    ()
  }

  // A provider for each version, so that it has nothing but the files.
  private def contents(golden: GoldenFamilies): JArray = JArray(
    GoldenFamilies.versions.indices.map { base =>
      Using.resource(new TestStore(golden.settings, golden.root)) { store =>
        val rows = store.read(base + 1L)
        try
          JObject("version" -> JInt(base + 1L), "families" -> GoldenFamilies.content(rows))
        finally rows.release()
      }
    }.toList)

  GoldenFamilies.all.foreach { golden =>
    test(s"every version of ${golden.name} is what its page says") {
      assert(contents(golden) == golden.expected \ "versions")
      assert((golden.expected \ "codec") == JString(golden.codec))
    }
  }

  test("all of them say the same, and what a script says that makes one now") {
    val pages = GoldenFamilies.all.map(_.expected \ "versions")
    assert(pages.distinct.size == 1)
    TemporaryFolder.use { root =>
      Using.resource(new TestStore(GoldenFamilies.all.head.settings, root)) { store =>
        GoldenFamilies.versions.zipWithIndex.foreach { case (change, base) =>
          val rows = store.write(base.toLong)
          change(rows)
          rows.commit()
          val read = store.read(base + 1L)
          assert(GoldenFamilies.content(read) == (pages.head(base) \ "families"))
          read.release()
        }
      }
    }
  }
}

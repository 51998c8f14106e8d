package io.holdfast.golden

import java.nio.file.{Files, Path}

import scala.util.Using
import scala.util.Using.Releasable

import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.streaming.state.{StateStoreProvider, UnsafeRowPair}
import org.scalatest.{Assertion, BeforeAndAfterAll}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, StateFileBytes, TemporaryFolder}

/** The stores in `tests/golden`, read at every version. With `HOLDFAST_WRITE_GOLDEN=1` in the
  * environment they are written anew first.
  */
class GoldenStoresSuite extends AnyFunSuite with BeforeAndAfterAll {

  implicit private val closed: Releasable[StateStoreProvider] = _.close()

  override protected def beforeAll(): Unit = if (GoldenWriter.asked) GoldenWriter.writeAll()

  GoldenStore.all.foreach { golden =>
    test(s"the files of ${golden.name} are those of its script") {
      val expected = golden.expected
      assert(expected == GoldenScript.expected(golden.codec, golden.rowChecksums))
      assert(
        golden.stateFiles.map(_.getFileName.toString) ==
          Seq("1.delta", "2.delta", "3.delta", "4.delta", "4.snapshot", "5.delta", "6.delta"))
    }

    Seq(Provider.Holdfast, Provider.Spark).foreach { className =>
      val reader = className.split('.').last

      test(s"$reader reads every version of ${golden.name}") {
        assertReads(golden, golden.root, className)
      }

      test(s"$reader reads every version of ${golden.name} from its deltas alone") {
        TemporaryFolder.use { root =>
          copyDeltas(golden, root)
          assertReads(golden, root, className)
        }
      }
    }
  }

  test("every value of the store from before Spark 2.3 is longer than its row") {
    val golden = GoldenStore.withOddValues
    val values = golden.stateFiles
      .flatMap(file => StateFileBytes.records(golden.codec, Files.readAllBytes(file)))
      .flatMap(_.value)
    assert(values.nonEmpty)
    assert(values.forall(_.length % 8 == 4))
  }

  private def assertReads(golden: GoldenStore, root: Path, className: String): Assertion = {
    val expected = golden.expected
    val settings = golden.settings
      .by(className)
      .copy(keySchema = expected.keySchema, valueSchema = expected.valueSchema)
    val encode = UnsafeProjection.create(expected.valueSchema)
    val wrong = expected.versions.filter { case (version, rows) =>
      // A provider for each version, so that it has nothing but the files.
      Using.resource(settings.open(root)) { provider =>
        val store = provider.getReadStore(version, None)
        def readable(row: UnsafeRowPair) = {
          assert(row.value == encode(row.value), "- a value is not the bytes of its columns alone")
          expected.row(row.key, row.value)
        }
        val found =
          try store.iterator().map(readable).toList
          finally store.release()
        found.length != rows.size || found.toSet != rows
      }
    }
    assert(wrong.isEmpty, "- these versions are read otherwise")
  }

  private def copyDeltas(golden: GoldenStore, root: Path): Unit = {
    val folder = root.resolve(golden.root.relativize(golden.stateFolder))
    Files.createDirectories(folder)
    golden.stateFiles
      .filter(_.toString.endsWith(".delta"))
      .foreach(file => Files.copy(file, folder.resolve(file.getFileName)))
  }
}

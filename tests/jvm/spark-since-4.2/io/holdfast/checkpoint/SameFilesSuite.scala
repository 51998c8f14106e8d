package io.holdfast.checkpoint

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StructType
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit._

/** Files that Holdfast writes beside those that Spark's default provider writes of the same batches:
  * the same bytes where the order of the records is determined, the same records otherwise.
  */
class SameFilesSuite extends AnyFunSuite with SeededTests {

  for {
    codec <- Provider.codecs
    rowChecksums <- Seq(false, true)
    settings = Provider().codec(codec).rowChecksums(rowChecksums)
  } {
    val files = s"$codec, row checksums $rowChecksums"

    test(s"a delta of one new row has the same bytes ($files)") {
      assertSameBytes(settings, "1.delta")(_.commit(0, Put("a", 1, "note")))
    }

    test(s"a delta of one removal has the same bytes ($files)") {
      assertSameBytes(settings, "2.delta") { store =>
        store.commit(0, Put("a", 1), Put("b", 2))
        store.commit(1, Remove("a"))
      }
    }

    test(s"a delta without changes has the same bytes ($files)") {
      assertSameBytes(settings, "1.delta", "2.delta") { store =>
        store.commit(0)
        store.commit(1)
      }
    }

    test(s"a snapshot of one row has the same bytes ($files)") {
      assertSameBytes(settings, "1.snapshot")(_.commitWithSnapshot(0, Put("a", 1)))
    }

    test(s"a snapshot without rows has the same bytes ($files)") {
      assertSameBytes(settings, "1.snapshot")(_.commitWithSnapshot(0))
    }

    test(s"a row larger than any buffer has the same bytes ($files)") {
      val note = new Random(1).alphanumeric.take(300000).mkString
      assertSameBytes(settings, "1.delta", "1.snapshot")(_.commitWithSnapshot(0, Put("a", 1, note)))
    }

    seeded(s"deltas and snapshots of many rows have the same records ($files)") { random =>
      val names = (0 until 400).map(n => s"name $n")
      val (removed, kept) = random.shuffle(names).splitAt(150)
      val changes = random.shuffle(removed.map(Remove(_)) ++ kept.take(100).map(put(_, random)))
      val puts = names.map(put(_, random))

      assertSameRecords(codec, settings, "1.delta", "2.delta", "2.snapshot") { store =>
        store.commit(0, puts: _*)
        store.commitWithSnapshot(1, changes: _*)
      }
    }
  }

  test("the row of a global aggregation, whose key has no columns, has the same bytes") {
    val noColumns = new UnsafeRow(0)
    noColumns.pointTo(new Array[Byte](0), 0)

    assertSameBytes(Provider(keySchema = new StructType), "1.delta", "1.snapshot") { store =>
      val writable = store.write(0, forceSnapshot = true)
      writable.put(noColumns, TestRows.value(1))
      writable.commit()
      store.awaitSnapshots()
    }
  }

  private def put(name: String, random: Random): Put =
    Put(name, random.nextLong(), random.alphanumeric.take(random.nextInt(200)).mkString)

  private def assertSameBytes(settings: Provider, names: String*)(
      script: TestStore => Any): Assertion =
    compare(settings, names, script)((_, bytes) => bytes.toSeq)

  private def assertSameRecords(codec: String, settings: Provider, names: String*)(
      script: TestStore => Any): Assertion =
    compare(settings, names, script) { (name, bytes) =>
      val records = StateFileBytes.records(codec, bytes)
      val once = records.toSet
      assert(once.size == records.size, s"- a key occurs twice in $name")
      once
    }

  private def compare[A](settings: Provider, names: Seq[String], script: TestStore => Any)(
      content: (String, Array[Byte]) => A): Assertion = {
    def written(className: String): Map[String, A] = TestStore.use(settings.by(className)) {
      store =>
        script(store)
        names.map(name => name -> content(name, store.bytes(name))).toMap
    }
    val bySpark = written(Provider.Spark)
    val byHoldfast = written(Provider.Holdfast)
    val different = names.filter(name => byHoldfast(name) != bySpark(name))
    assert(different.isEmpty, "- these differ from Spark's")
  }
}

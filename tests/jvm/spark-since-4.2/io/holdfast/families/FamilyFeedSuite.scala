package io.holdfast.families

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.streaming.state.{
  RecordType,
  StateStore,
  SupportsFineGrainedReplay
}
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, TestRows, TestStore}

/** What the change feed shows of column families that are as they were defined, or gone. */
class FamilyFeedSuite extends AnyFunSuite with FamilyCommits {
  import FamilyKind.{Lists, Plain, Range}

  /** What the change feed shows up to version 4, in which nothing but [[key]] may have changed. */
  private def feed(
      test: TestStore,
      kind: FamilyKind,
      from: Long): Seq[(RecordType.Value, Option[Long], Long)] = {
    val changes = test.provider
      .asInstanceOf[SupportsFineGrainedReplay]
      .getStateStoreChangeDataReader(from, 4, Some(kind.name), None)
    changes.map { case (what, changed, value, batch) =>
      assert(changed == key)
      (what, Option(value).map(_.getLong(0)), batch)
    }.toList
  }

  test("the feed shows what was put, added to lists and removed") {
    use() { test =>
      commit(test, 0) { store =>
        store.put(key, value(1), Plain.name)
        store.mergeList(key, Array(value(1), value(2)), Lists.name)
      }
      commit(test, 1) { store =>
        store.remove(key, Plain.name)
        (3 to 90).foreach(n => store.merge(key, value(n.toLong), Lists.name))
      }
      commit(test, 2)(_.putList(key, Array(value(7), value(8)), Lists.name))
      commit(test, 3)(_.remove(key, Lists.name))
      test.reopen()
      import RecordType._
      assert(feed(test, Plain, 1) == Seq((PUT_RECORD, Some(1L), 0L), (DELETE_RECORD, None, 1L)))
      assert(
        feed(test, Lists, 1).take(2) ==
          Seq((MERGE_RECORD, Some(1L), 0L), (MERGE_RECORD, Some(2L), 0L)))
      assert(
        feed(test, Lists, 2) == (3L to 90L).map(n => (MERGE_RECORD, Some(n), 1L)) ++
          Seq((PUT_RECORD, Some(7L), 2L), (MERGE_RECORD, Some(8L), 2L), (DELETE_RECORD, None, 3L)))
    }
  }

  test("the feed shows values larger than a part of a list, as the first and behind it") {
    def large(number: Long) = TestRows.value(number, "x" * 3000).copy()
    use() { test =>
      commit(test, 0)(_.mergeList(key, Array(large(1), value(2)), Lists.name))
      commit(test, 1)(_.mergeList(key, Array(value(3), large(4)), Lists.name))
      commit(test, 2)(_.putList(key, Array(large(5), large(6)), Lists.name))
      commit(test, 3)(_.merge(key, value(7), Lists.name))
      test.reopen()
      import RecordType._
      assert(
        feed(test, Lists, 1) == Seq(
          (MERGE_RECORD, Some(1L), 0L),
          (MERGE_RECORD, Some(2L), 0L),
          (MERGE_RECORD, Some(3L), 1L),
          (MERGE_RECORD, Some(4L), 1L),
          (PUT_RECORD, Some(5L), 2L),
          (MERGE_RECORD, Some(6L), 2L),
          (MERGE_RECORD, Some(7L), 3L)))
    }
  }

  test("the feed shows a list that was removed and made again in one batch as put") {
    use() { test =>
      commit(test, 0)(_.merge(key, value(1), Lists.name))
      commit(test, 1) { store =>
        store.remove(key, Lists.name)
        store.mergeList(key, Array(value(2), value(3)), Lists.name)
      }
      commit(test, 2)(_.merge(key, value(4), Lists.name))
      commit(test, 3)(_ => ())
      import RecordType._
      assert(
        feed(test, Lists, 1) == Seq(
          (MERGE_RECORD, Some(1L), 0L),
          (PUT_RECORD, Some(2L), 1L),
          (MERGE_RECORD, Some(3L), 1L),
          (MERGE_RECORD, Some(4L), 2L)))
    }
  }

  test("the feed shows all values in their newest columns, and none that got them alone") {
    use(Provider().set("spark.sql.streaming.stateStore.encodingFormat" -> "avro")) { test =>
      val wide = StructType(new StructType().add("more", IntegerType) ++ TestRows.valueSchema)
      def widen(store: StateStore): Unit = Seq(Plain, Lists).foreach { kind =>
        store.createColFamilyIfAbsent(
          kind.name,
          FamilyRows.keySchema,
          wide,
          kind.encoder,
          kind.hasLists)
      }
      val project = UnsafeProjection.create(wide)
      def wideValue(number: Long) = project(InternalRow(1, number, null)).copy()
      commit(test, 0, snapshot = true) { store =>
        store.put(key, value(1), Plain.name)
        store.mergeList(key, Array.tabulate(90)(i => value(i.toLong)), Lists.name)
      }
      commit(test, 1) { store =>
        // What a batch did before it changed the columns is shown.
        store.put(key, value(2), Plain.name)
        store.merge(key, value(90), Lists.name)
        widen(store)
      }
      val store = test.write(2)
      store.merge(key, wideValue(91), Lists.name)
      store.put(key, wideValue(3), Plain.name)
      store.commit()
      test.reopen()
      val provider = test.provider.asInstanceOf[SupportsFineGrainedReplay]
      val replayed = provider.replayReadStateFromSnapshot(1, 3, None, None)
      assert(replayed.get(key, Plain.name) == wideValue(3))
      assert(replayed.valuesIterator(key, Lists.name).map(_.numFields).toList == List.fill(92)(3))
      replayed.abort()
      def shown(kind: FamilyKind) = provider
        .getStateStoreChangeDataReader(1, 3, Some(kind.name), None)
        .map { case (what, _, value, batch) =>
          assert(value.numFields == wide.length)
          (what, value.isNullAt(0), value.getLong(1), batch)
        }
        .toList
      import RecordType._
      assert(
        shown(Plain) == Seq(
          (PUT_RECORD, true, 1L, 0L),
          (PUT_RECORD, true, 2L, 1L),
          (PUT_RECORD, false, 3L, 2L)))
      assert(
        shown(Lists) == (0L until 90L).map((MERGE_RECORD, true, _, 0L)) ++
          Seq((MERGE_RECORD, true, 90L, 1L), (MERGE_RECORD, false, 91L, 2L)))
    }
  }

  test("the feed shows nothing of a family that was removed, nor of one before its name") {
    use() { test =>
      commit(test, 0) { store =>
        store.put(key, value(1), Plain.name)
        store.put(key, value(1), Range.name)
        store.put(key, value(1), Lists.name)
      }
      commit(test, 1) { store =>
        store.removeColFamilyIfExists(Plain.name)
        Plain.create(store)
        store.put(key, value(2), Plain.name)
      }
      commit(test, 2)(_.put(key, value(3), Plain.name))
      val store = test.write(3)
      store.removeColFamilyIfExists(Lists.name)
      store.commit()
      test.reopen()
      import RecordType.PUT_RECORD
      assert(feed(test, Plain, 1) == Seq((PUT_RECORD, Some(2L), 1L), (PUT_RECORD, Some(3L), 2L)))
      assert(feed(test, Plain, 3) == Seq((PUT_RECORD, Some(3L), 2L)))
      assert(feed(test, Range, 1) == Seq((PUT_RECORD, Some(1L), 0L)))
      assert(feed(test, Lists, 1) == Nil)
    }
  }
}

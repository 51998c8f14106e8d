package io.holdfast.families

import scala.util.Using

import org.apache.spark.{SparkException, SparkThrowable}
import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  StateStore,
  SupportsFineGrainedReplay
}
import org.apache.spark.sql.types.{IntegerType, LongType, StructType}
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, TestRows, TestStore}

/** Stores with column families: what is refused and how, and what the files lead to. */
class FamilyStoreSuite extends AnyFunSuite with FamilyCommits {
  import FamilyKind.{Lists, Plain, Prefix, Range}

  private def counts(store: StateStore, kind: FamilyKind): Seq[Long] =
    if (kind.hasLists) store.valuesIterator(key, kind.name).map(_.getLong(0)).toList
    else Option(store.get(key, kind.name)).map(_.getLong(0)).toList

  private def condition(body: => Any): String = intercept[Throwable](body) match {
    case spark: SparkThrowable => spark.getCondition
    case other => other.toString
  }

  test("names are refused as Spark's RocksDB provider refuses them") {
    use() { test =>
      val store = test.write(0)
      def create(name: String) = store.createColFamilyIfAbsent(
        name,
        FamilyRows.keySchema,
        TestRows.valueSchema,
        NoPrefixKeyStateEncoderSpec(FamilyRows.keySchema))
      Seq("default", "", " ", " default", "a ").foreach { name =>
        assert(condition(create(name)) == "STATE_STORE_CANNOT_USE_COLUMN_FAMILY_WITH_INVALID_NAME")
      }
      assert(
        condition(create("$own")) == "STATE_STORE_CANNOT_CREATE_COLUMN_FAMILY_WITH_RESERVED_CHARS")
      val missing = "STATE_STORE_UNSUPPORTED_OPERATION_ON_MISSING_COLUMN_FAMILY"
      assert(condition(store.get(key, "other")) == missing)
      assert(condition(store.put(key, value(1), "other")) == missing)
      assert(condition(store.merge(key, value(1), "other")) == missing)
      assert(condition(store.iterator("other")) == missing)
      assert(!store.removeColFamilyIfExists("other"))
      store.abort()
    }
  }

  test("lists are refused in a family with one value for a key, and nothing is changed") {
    use() { test =>
      commit(test, 0) { store =>
        store.put(key, value(1), Plain.name)
        val unsupported = "STATE_STORE_UNSUPPORTED_OPERATION"
        assert(condition(store.merge(key, value(2), Plain.name)) == unsupported)
        assert(condition(store.putList(key, Array(value(2)), Plain.name)) == unsupported)
        assert(condition(store.valuesIterator(key, Plain.name)) == unsupported)
        assert(condition(store.iteratorWithMultiValues(Plain.name)) == unsupported)
        intercept[IllegalArgumentException](store.mergeList(key, Array(value(1), null), Lists.name))
        assert(counts(store, Lists) == Nil)
        assert(counts(store, Plain) == Seq(1L))
      }
    }
  }

  test("a family with rows keeps its kind of rows; one without takes any") {
    use() { test =>
      commit(test, 0)(_.put(key, value(1), Plain.name))
      val store = test.write(1)
      def create(kind: FamilyKind, keys: StructType, values: StructType) =
        store.createColFamilyIfAbsent(kind.name, keys, values, NoPrefixKeyStateEncoderSpec(keys))
      val other = new StructType().add("number", IntegerType)
      assert(
        condition(create(Plain, other, TestRows.valueSchema)) ==
          "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE")
      assert(
        condition(create(Plain, FamilyRows.keySchema, other)) ==
          "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE")
      val scanned = PrefixKeyScanStateEncoderSpec(FamilyRows.keySchema, 1)
      assert(
        condition(
          store.createColFamilyIfAbsent(
            Plain.name,
            FamilyRows.keySchema,
            TestRows.valueSchema,
            scanned)) == "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE")
      assert(counts(store, Plain) == Seq(1L))
      store.createColFamilyIfAbsent(
        FamilyKind.Prefix.name,
        FamilyRows.keySchema,
        TestRows.valueSchema,
        NoPrefixKeyStateEncoderSpec(FamilyRows.keySchema))
      store.put(key, value(5), FamilyKind.Prefix.name)
      store.commit()
      test.reopen()
      assert(FamilyKind.Prefix.rows(test.read(2)).size == 1)
    }
  }

  test("families, rows and lists come back from deltas, from a snapshot, and after a damaged one") {
    val settings = Provider().set(
      "spark.sql.streaming.stateStore.autoSnapshotRepair.enabled" -> "true",
      "spark.sql.streaming.stateStore.autoSnapshotRepair.numFailuresBeforeActivating" -> "1")
    use(settings) { test =>
      commit(test, 0) { store =>
        (1 to 100).foreach(n => store.merge(key, value(n.toLong), Lists.name))
        store.put(key, value(7), Range.name)
        store.put(TestRows.key("a"), value(1))
      }
      commit(test, 1)(_.mergeList(key, Array(value(101), value(102)), Lists.name))
      commit(test, 2, snapshot = true)(_.remove(key, Range.name))
      commit(test, 3)(_.putList(key, Array(value(5)), Lists.name))
      def state(version: Long) = {
        val store = test.read(version)
        val found = FamilyKind.all.map(kind => kind -> kind.rows(store).groupBy(_._1)).toMap
        assert(store.allColumnFamilyNames == FamilyKind.all.map(_.name).toSet + "default")
        store.release()
        (found, test.counts(version))
      }
      val inMemory = (1L to 4L).map(state)
      (1L to 4L).foreach { version =>
        test.reopen()
        assert(state(version) == inMemory(version.toInt - 1))
      }
      assert(inMemory.last._1(Lists).values.map(_.size).toSeq == Seq(1))
      assert(inMemory(2)._1(Lists).values.map(_.size).toSeq == Seq(102))
      test.overwrite("3.snapshot", test.bytes("3.snapshot").take(200))
      test.reopen()
      assert(state(4) == inMemory.last)
      // Exactly from a snapshot, as `snapshotStartBatchId` asks for it.
      commit(test, 4, snapshot = true)(_ => ())
      commit(test, 5)(_.put(key, value(9), Plain.name))
      test.reopen()
      val replay = test.provider.asInstanceOf[SupportsFineGrainedReplay]
      val store = replay.replayReadStateFromSnapshot(5, 6)
      assert(Plain.rows(store).size == 1)
      store.release()
    }
  }

  test("removed families are gone with their rows, and a new one of the name has none") {
    use() { test =>
      commit(test, 0) { store =>
        (1L to 3000L).foreach(n => store.put(FamilyRows.key(1, n), value(n), Plain.name))
        store.put(key, value(1), Lists.name)
      }
      commit(test, 1) { store =>
        assert(store.removeColFamilyIfExists(Plain.name))
        assert(condition(store.get(key, Plain.name)).endsWith("ON_MISSING_COLUMN_FAMILY"))
        Plain.create(store)
        assert(Plain.rows(store).isEmpty)
        store.put(key, value(2), Plain.name)
      }
      def check() = {
        val store = test.write(2)
        assert(Plain.rows(store).size == 1)
        assert(counts(store, Lists) == Seq(1L))
        store.abort()
      }
      check()
      test.reopen()
      check()
      assert(Plain.rows(test.read(1)).size == 3000)
      // The delta names the family, not its rows.
      assert(test.bytes("2.delta").length < test.bytes("1.delta").length / 4)
    }
  }

  test("a family that lost its rows and was made again in another way is loaded as it was") {
    val keys = FamilyRows.keySchema
    val byGroup = PrefixKeyScanStateEncoderSpec(keys, 1)
    val unordered = NoPrefixKeyStateEncoderSpec(keys)
    Seq(
      (Plain, byGroup, false),
      (Plain, unordered, true),
      (Lists, unordered, false),
      (FamilyKind.Prefix, unordered, false)).foreach { case (kind, encoder, lists) =>
      use() { test =>
        commit(test, 0) { store =>
          (1L to 90L).foreach(n => store.put(FamilyRows.key(1, n), value(n), kind.name))
          if (kind.hasLists) {
            (1L to 90L).foreach(n => store.merge(FamilyRows.key(1, 1), value(n), kind.name))
          }
        }
        commit(test, 1) { store =>
          (1L to 90L).foreach(n => store.remove(FamilyRows.key(1, n), kind.name))
          store.createColFamilyIfAbsent(
            kind.name,
            keys,
            TestRows.valueSchema,
            encoder,
            lists,
            false)
          store.put(FamilyRows.key(1, 7), value(5), kind.name)
        }
        def rows() = {
          val store = test.read(2)
          try
            FamilyRows.pairs(
              if (lists) store.iteratorWithMultiValues(kind.name) else store.iterator(kind.name))
          finally store.release()
        }
        val inMemory = rows()
        assert(inMemory.map(_._1) == Seq(FamilyRows.bytes(FamilyRows.key(1, 7))))
        test.reopen()
        assert(rows() == inMemory)
      }
    }
  }

  test("values of which no others can be made by the rules of Avro keep their batch from a commit") {
    use(Provider().set("spark.sql.streaming.stateStore.encodingFormat" -> "avro")) { test =>
      commit(test, 0)(_.put(key, value(1), Plain.name))
      val store = test.write(1)
      val other = new StructType().add("count", new StructType().add("number", IntegerType))
      val encoder = NoPrefixKeyStateEncoderSpec(FamilyRows.keySchema)
      intercept[Exception](
        store.createColFamilyIfAbsent(Plain.name, FamilyRows.keySchema, other, encoder))
      val e = intercept[Exception](store.commit())
      assert(Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).exists { cause =>
        cause.getMessage.contains("failed before and can only be aborted")
      })
      store.abort()
      test.reopen()
      val again = test.write(1)
      assert(counts(again, Plain) == Seq(1L))
      again.abort()
    }
  }

  test("a family whose values get another schema has no order before somebody scans it") {
    use(Provider().set("spark.sql.streaming.stateStore.encodingFormat" -> "avro")) { test =>
      val rows = 3000
      def heldAfter(version: Long)(change: StateStore => Any): Long = {
        val store = test.write(version)
        change(store)
        store.commit()
        store.metrics.customMetrics.collectFirst {
          case (metric, bytes) if metric.name == "stateOnCurrentVersionSizeBytes" => bytes
        }.get
      }
      def create(values: StructType)(store: StateStore): Unit = store
        .createColFamilyIfAbsent(Prefix.name, FamilyRows.keySchema, values, Prefix.encoder)
      heldAfter(0) { store =>
        create(TestRows.valueSchema)(store)
        (1 to rows).foreach(time => store.put(FamilyRows.key(1, time), value(1), Prefix.name))
      }
      val evolved = heldAfter(1)(create(TestRows.valueSchema.add("more", LongType)))
      val walked = heldAfter(2)(_.iterator(Prefix.name).close())
      assert(walked - evolved > 16L * rows)
    }
  }

  test("a reader that is told of a family reads none of its rows from a version before it") {
    use() { test =>
      test.commit(0, Put("a", 1))
      commit(test, 1)(_.put(key, value(1), Plain.name))
      test.reopen()
      assert(condition(test.read(1).iterator(Range.name)).endsWith("ON_MISSING_COLUMN_FAMILY"))
      val store = test.write(2)
      FamilyKind.all.foreach(_.create(store))
      store.abort()
      FamilyKind.all.foreach(kind => assert(kind.rows(test.read(1)).isEmpty))
    }
  }

  test("keys of internal families are not counted, and those of all others are") {
    use() { test =>
      val store = test.write(0)
      FamilyKind.all.foreach(_.create(store))
      store.put(key, value(1), Plain.name)
      store.put(key, value(1), Range.name)
      store.mergeList(key, Array(value(1), value(2)), Lists.name)
      store.put(TestRows.key("a"), value(1))
      store.commit()
      assert(store.metrics.numKeys == 3)
    }
  }

  test("files of stores with families and of those without are not taken for each other") {
    def refused(written: Provider, read: Provider, what: String): Assertion =
      TestStore.use(written) { test =>
        test.commit(0, Put("a", 1))
        val other = new TestStore(read, test.root)
        val e = intercept[SparkException](other.read(1))
        other.close()
        assert(e.getMessage.contains(what))
      }
    refused(
      Provider().withFamilies,
      Provider(),
      "expected the file of a store without column families")
    refused(Provider(), Provider().withFamilies, "expected the magic HOLDFAST")
  }

  test("files name their codecs, of which one store has several") {
    use() { first =>
      Provider.codecs.zipWithIndex.foreach { case (codec, version) =>
        val settings = Provider().withFamilies.codec(codec)
        Using.resource(new TestStore(settings, first.root)) { test =>
          commit(test, version.toLong)(_.merge(key, value(version.toLong), Lists.name))
        }
      }
      Provider.codecs.foreach { codec =>
        val settings = Provider().withFamilies.codec(codec)
        Using.resource(new TestStore(settings, first.root)) { test =>
          val last = Provider.codecs.size.toLong
          val store = test.write(last)
          assert(counts(store, Lists) == (0L until last))
          store.abort()
        }
      }
    }
  }
}

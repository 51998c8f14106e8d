package io.holdfast.families

import org.apache.spark.sql.execution.streaming.state.RecordType.{
  DELETE_RECORD,
  MERGE_RECORD,
  PUT_RECORD
}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.types.{DoubleType, LongType, StringType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, TestStore}

/** What the change feed shows of a column family that was defined in another way while it had no rows. */
class RedefinedFamilyFeedSuite extends AnyFunSuite with FamilyFeed {
  import FamilyFeed._

  /** Puts into a family and empties it, defines it in another way, and puts again: a batch for each, or
    * the first two after another in one.
    */
  private def redefined(test: TestStore, before: Kind, after: Kind, atOnce: Boolean): Long = {
    def put(store: StateStore, kind: Kind, number: Long): Unit =
      // Of values that are added at once RocksDB shows the first on Spark 4.2.
      if (kind.hasLists)
        (1 to 2).foreach(_ => store.merge(kind.key, kind.value(number), kind.name))
      else store.put(kind.key, kind.value(number), kind.name)
    commit(test, 0, Seq(before))(put(_, before, 1))
    val last = if (atOnce) {
      commit(test, 1, Seq(before)) { store =>
        store.remove(before.key, before.name)
        after.create(store)
      }
      2L
    } else {
      commit(test, 1, Seq(before))(_.remove(before.key, before.name))
      commit(test, 2, Seq(after))(_ => ())
      3L
    }
    commit(test, last, Seq(after))(put(_, after, 2))
    last + 1
  }

  for {
    hasLists <- Seq(false, true)
    atOnce <- Seq(false, true)
    told <- Seq(false, true)
  } {
    val how = s"${if (hasLists) "lists" else "values"}, " +
      s"${if (atOnce) "in the batch that empties it" else "in a later batch"}, " +
      s"${if (told) "read by what Spark says" else "read by the files"}"
    val narrow = Kind(hasLists = hasLists)

    def expected(before: Seq[Any], after: Seq[Any], end: Long): Seq[Shown] = {
      def added(columns: Seq[Any], batch: Long): Seq[Shown] =
        if (!hasLists) Seq((PUT_RECORD, Some(columns), batch))
        else Seq.fill(2)((MERGE_RECORD, Some(columns), batch))
      added(before, 0) ++ Seq((DELETE_RECORD, None, 1L)) ++ added(after, end - 1)
    }

    test(s"values get other columns with Avro, and all are shown in the newest: $how") {
      use(Avro) { test =>
        val end = redefined(test, narrow, narrow.copy(values = Wide), atOnce)
        assert(
          feed(test, 1, end, narrow.copy(values = Wide), told) ==
            expected(Seq(null, 1L), Seq(7, 2L), end))
      }
    }

    test(s"columns get other names without Avro, and all are shown: $how") {
      use(Provider()) { test =>
        val renamed = narrow.copy(values = new StructType().add("number", LongType))
        val end = redefined(test, narrow, renamed, atOnce)
        assert(feed(test, 1, end, renamed, told) == expected(Seq(1L), Seq(2L), end))
      }
    }

    test(s"columns of keys get other names, and all are shown: $how") {
      use(Provider()) { test =>
        val renamed = narrow.copy(keys = new StructType().add("a", StringType).add("b", LongType))
        val end = redefined(test, narrow, renamed, atOnce)
        assert(feed(test, 1, end, renamed, told) == expected(Seq(1L), Seq(2L), end))
      }
    }

    test(s"values of other types without Avro are refused, and not those after them: $how") {
      use(Provider()) { test =>
        val texts = narrow.copy(values = new StructType().add("text", StringType))
        val end = redefined(test, narrow, texts, atOnce)
        val e = intercept[IllegalStateException](feed(test, 1, end, texts, told))
        val batch = if (atOnce) 1 else 2
        Seq(
          "column family 'family'",
          "written as struct<count:bigint> as struct<text:string>, by which it is read",
          "without spark.sql.streaming.stateStore.encodingFormat=avro no values are made of others",
          s"Set changeStartBatchId to $batch or later").foreach(said =>
          assert(e.getMessage.contains(said)))
        val after = expected(Nil, Seq("2"), end).dropWhile(_._3 < batch)
        assert(
          feed(test, batch + 1L, end, texts, told).filter(_._2.isDefined) ==
            after.filter(_._2.isDefined))
      }
    }

    test(s"values of which Avro makes no others are refused, and not those after them: $how") {
      use(Avro) { test =>
        val other = narrow.copy(values = new StructType().add("count", StringType))
        val end = redefined(test, narrow, other, atOnce)
        val e = intercept[IllegalStateException](feed(test, 1, end, other, told))
        assert(e.getMessage.contains("struct<count:bigint> as struct<count:string>"))
        assert(feed(test, end, end, other, told).flatMap(_._2).distinct == Seq(Seq("2")))
      }
    }

    Seq(
      "keys of other types" -> narrow.copy(keys =
        new StructType().add("group", LongType).add("time", LongType)),
      "keys that are scanned otherwise" -> narrow.copy(hasPrefix = true),
      "another number of values" -> narrow.copy(hasLists = !hasLists)).foreach {
      case (what, after) =>
        test(s"$what make another family, of which nothing is shown from before: $how") {
          use(Avro) { test =>
            val end = redefined(test, narrow, after, atOnce)
            val shown = feed(test, 1, end, after, told)
            assert(shown.flatMap(_._2).distinct == Seq(Seq(2L)))
            assert(shown.map(_._3).distinct == Seq(end - 1))
          }
        }
    }
  }

  for (hasLists <- Seq(false, true); atOnce <- Seq(false, true)) {
    val how = s"${if (hasLists) "lists" else "values"}, " +
      s"${if (atOnce) "in the batch that empties it" else "in a later batch"}"
    val before = Kind(hasLists = hasLists)

    def shownBy(provider: Provider, after: Kind): Seq[Shown] = use(provider) { test =>
      val end = redefined(test, before, after, atOnce)
      feed(test, 1, end, after, told = true)
    }

    test(s"without Avro columns of other names are shown as RocksDB shows them: $how") {
      val after = before.copy(
        keys = new StructType().add("a", StringType).add("b", LongType),
        values = new StructType().add("number", LongType))
      assert(shownBy(Provider(), after) == shownBy(RocksDB, after))
    }

    test(s"what is refused without Avro RocksDB shows as other numbers: $how") {
      val after = before.copy(values = new StructType().add("count", DoubleType))
      val numbers = shownBy(RocksDB, after).flatMap(_._2).distinct
      assert(numbers == Seq(Seq(java.lang.Double.longBitsToDouble(1L)), Seq(2.0)))
      intercept[IllegalStateException](shownBy(Provider(), after))
    }
  }

  test("values that are read by a schema which they do not have are refused without Avro") {
    use(Provider()) { test =>
      val wide = Kind(values = Wide)
      commit(test, 0, Seq(wide))(store => store.put(wide.key, wide.value(1), wide.name))
      commit(test, 1, Seq(wide))(_.remove(wide.key, wide.name))
      test.reopen()
      val store = test.write(2)
      Kind().create(store)
      store.abort()
      val e = intercept[IllegalStateException](shown(test, 1, 2, Kind()))
      assert(e.getMessage.contains("struct<more:int,count:bigint> as struct<count:bigint>"))
      assert(!e.getMessage.contains("changeStartBatchId"))
    }
  }

  test("a family that a delta removes and defines with other values is another one") {
    use(Avro) { test =>
      val wide = Kind(values = Wide)
      commit(test, 0, Seq(Kind()))(store => store.put(Kind().key, Kind().value(1), "family"))
      commit(test, 1, Nil) { store =>
        assert(store.removeColFamilyIfExists("family"))
        wide.create(store)
        store.put(wide.key, wide.value(2), "family")
      }
      assert(feed(test, 1, 2, wide, told = false) == Seq((PUT_RECORD, Some(Seq(7, 2L)), 1L)))
    }
  }
}

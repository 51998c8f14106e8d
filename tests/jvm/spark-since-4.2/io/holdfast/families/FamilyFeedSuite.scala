package io.holdfast.families

import org.apache.spark.{SparkException, SparkThrowable}
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.RecordType.{
  DELETE_RECORD,
  MERGE_RECORD,
  PUT_RECORD
}
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RecordType,
  StateStore,
  SupportsFineGrainedReplay
}
import org.apache.spark.sql.types.{DoubleType, IntegerType, LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, TestStore}

/** What the change feed shows of a column family that was defined in another way while it had no rows, and
  * where the files of the versions before are gone.
  */
class FamilyFeedSuite extends AnyFunSuite {
  import FamilyFeedSuite._

  private def use[A](settings: Provider)(body: TestStore => A): A =
    TestStore.use(settings.withFamilies)(body)

  private def commit(test: TestStore, version: Long, families: Seq[Kind])(
      change: StateStore => Unit): Unit = {
    val store = test.write(version)
    families.foreach(_.create(store))
    change(store)
    val _ = store.commit()
  }

  /** What is shown up to a version: kind, columns of the value, and batch. Of a provider that Spark has
    * told of a family, or of one that knows the files alone.
    */
  private def feed(test: TestStore, from: Long, to: Long, kind: Kind, told: Boolean): Seq[Shown] = {
    test.reopen()
    if (told) {
      val store = test.write(to)
      kind.create(store)
      store.abort()
    }
    shown(test, from, to, kind)
  }

  private def shown(
      test: TestStore,
      from: Long,
      to: Long,
      kind: Kind,
      id: Option[String] = None): Seq[Shown] =
    test.provider
      .asInstanceOf[SupportsFineGrainedReplay]
      .getStateStoreChangeDataReader(from, to, Some(kind.name), id)
      .map { case (what, key, value, batch) =>
        assert(key.numFields == kind.keys.length)
        (what, Option(value).map(columns(_, kind.values)), batch)
      }
      .toList

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

  /** Twenty batches with a cleanup after each, then all that is shown from the oldest changes on that are
    * still there.
    */
  private def shownAfterCleanup(provider: Provider, kind: Kind, told: Boolean): (Long, Seq[Shown]) =
    use(provider.minDeltas(2).retained(2)) { test =>
      (0L until 20L).foreach { version =>
        commit(test, version, Seq(kind)) { store =>
          if (kind.hasLists) store.merge(kind.key, kind.value(version), kind.name)
          else store.put(kind.key, kind.value(version), kind.name)
        }
        test.provider.doMaintenance()
      }
      val oldest = oldestChanges(test)
      assert(oldest > 1 && !test.fileNames.exists(_.startsWith(s"${oldest - 1}.")))
      (oldest, feed(test, oldest, 20, kind, told))
    }

  private def oldestChanges(test: TestStore): Long =
    test.fileNames
      .filter(name => name.endsWith(".delta") || name.endsWith(".changelog"))
      .map(_.takeWhile(_.isDigit).toLong)
      .min

  for {
    hasLists <- Seq(false, true)
    (who, provider, told) <- Seq(
      ("RocksDB", RocksDB, true),
      ("Holdfast, which Spark has told of the family,", Provider(), true),
      ("Holdfast, which knows the files alone,", Provider(), false))
  } test(s"$who shows the oldest changes that are there: ${if (hasLists) "lists" else "values"}") {
    val kind = Kind(hasLists = hasLists)
    val (oldest, shown) = shownAfterCleanup(provider, kind, told)
    val what = if (hasLists) MERGE_RECORD else PUT_RECORD
    assert(shown == (oldest - 1 to 19).map(batch => (what, Some(Seq(batch)), batch)))
  }

  for (checksums <- Seq(false, true))
    test(s"with ids the oldest changes are shown that are there, file checksums=$checksums") {
      val settings = Provider()
        .set(
          "spark.sql.streaming.stateStore.checkpointFormatVersion" -> 2,
          Provider.FileChecksums -> checksums)
        .minDeltas(2)
        .retained(2)
      use(settings) { test =>
        val kind = Kind()
        val last = (0L until 20L).foldLeft(Option.empty[String]) { (id, version) =>
          val store = test.provider.getStore(version, id)
          kind.create(store)
          store.put(kind.key, kind.value(version), kind.name)
          store.commit()
          test.provider.doMaintenance()
          store.getStateStoreCheckpointInfo().stateStoreCkptId
        }
        val oldest = oldestChanges(test)
        assert(oldest > 1 && !test.fileNames.exists(_.startsWith(s"${oldest - 1}_")))
        test.reopen()
        val shown = this.shown(test, oldest, 20, kind, last)
        assert(shown == (oldest - 1 to 19).map(batch => (PUT_RECORD, Some(Seq(batch)), batch)))
        assert(test.versionsInMemory.isEmpty)
        val e = intercept[SparkException](this.shown(test, oldest - 1, 20, kind, last))
        assert(e.getCondition.endsWith(".CANNOT_READ_DELTA_FILE_NOT_EXISTS"))
      }
    }

  test("the rows of no version are read to show changes") {
    use(Provider().minDeltas(100)) { test =>
      val kind = Kind()
      (0L until 6L).foreach { version =>
        val store = test.write(version, forceSnapshot = version == 1)
        kind.create(store)
        store.put(kind.key, kind.value(version), kind.name)
        store.commit()
        test.awaitSnapshots()
      }
      assert(test.fileNames.filter(_.endsWith(".snapshot")) == Seq("2.snapshot"))
      (1L to 6L).foreach { from =>
        val shown = feed(test, from, 6, kind, told = false)
        assert(shown.map(_._3) == (from - 1 to 5))
        assert(test.versionsInMemory.isEmpty)
      }
    }
  }

  test("changes that are gone are named, and those that can be shown instead") {
    use(Provider()) { test =>
      val kind = Kind()
      (0L until 6L).foreach(version =>
        commit(test, version, Seq(kind))(_.put(kind.key, kind.value(version), kind.name)))
      test.delete("1.delta")
      test.delete("3.delta")
      def refused(from: Long, to: Long): String = {
        val e = intercept[SparkException](feed(test, from, to, kind, told = false))
        assert(e.getCondition.endsWith(".CANNOT_READ_DELTA_FILE_NOT_EXISTS"))
        e.getMessage
      }
      val message = refused(1, 6)
      Seq("The changes of version 1", "1.delta", "Set changeStartBatchId to 3 or later").foreach(
        said => assert(message.contains(said)))
      assert(!refused(1, 3).contains("changeStartBatchId"))
    }
  }

  /** Versions in which families go, come again, take the ids of others and get other columns. */
  private val history: Seq[StateStore => Unit] = {
    val wide = F.copy(values = Wide)
    def put(kind: Kind, number: Long)(store: StateStore): Unit = {
      kind.create(store)
      store.put(kind.key, kind.value(number), kind.name)
    }
    def remove(kind: Kind)(store: StateStore): Unit = {
      val _ = store.removeColFamilyIfExists(kind.name)
    }
    def all(changes: (StateStore => Unit)*)(store: StateStore): Unit = changes.foreach(_(store))
    Seq(
      all(put(F, 1), put(G, 1)),
      put(F, 2),
      all(remove(F), put(H, 3), put(G, 3)),
      put(F, 4),
      put(wide, 5),
      all(remove(F), put(wide, 6)),
      all(remove(G), remove(H), put(G, 7)),
      all(put(G, 8), put(wide, 8)),
      all(remove(F), put(G.copy(values = Wide), 9)),
      all(_.remove(G.key, G.name), G.create),
      all(put(H, 11), put(G, 11), put(F, 11)))
  }

  test("families are known by a later snapshot as by the files before") {
    val last = history.size.toLong
    val files = use(Avro) { test =>
      history.zipWithIndex.foreach { case (change, version) =>
        val store = test.write(version.toLong, forceSnapshot = true)
        change(store)
        store.commit()
        test.awaitSnapshots()
      }
      test.files
    }
    type Outcome = Either[String, Seq[(RecordType.Value, Option[(Int, Long)], Long)]]
    def outcomes(names: String => Boolean, start: Long, end: Long): Seq[Outcome] = use(Avro) {
      test =>
        files.view.filterKeys(names).foreach { case (name, bytes) =>
          test.overwrite(name, bytes.toArray)
        }
        test.reopen()
        Seq(F, G, H).map { kind =>
          try
            Right(
              test.provider
                .asInstanceOf[SupportsFineGrainedReplay]
                .getStateStoreChangeDataReader(start, end, Some(kind.name), None)
                .map { case (what, _, value, batch) =>
                  val columns = Option(value).map(_.numFields)
                  (what, columns.map(n => n -> value.getLong(n - 1)), batch)
                }
                .toList)
          catch { case e: SparkThrowable => Left(e.getMessage) }
        }
    }
    def number(name: String): Long = name.takeWhile(_.isDigit).toLong
    def isFile(name: String): Boolean = !name.startsWith(".")
    var refused = 0
    for (start <- 2L to last; end <- start to last) {
      val before = outcomes(isFile, start, end)
      assert(before.flatMap(_.toSeq).flatten.nonEmpty)
      for (snapshot <- start to end.min(start + 3)) {
        val found = outcomes(
          name =>
            isFile(name) && number(name) >= start &&
              (name.endsWith(".delta") || number(name) == snapshot),
          start,
          end)
        found.zip(before).foreach {
          case (Left(e), _) if snapshot > start && e.contains("cannot be loaded") =>
            refused += 1
          // A family that goes may have had the name, as far as the later snapshot says.
          case (Right(Nil), Left(e)) if e.contains("missing column family") =>
          case (found, expected) =>
            withClue(s"from $start to $end by $snapshot: ")(assert(found == expected))
        }
      }
    }
    // Without that of the first delta nobody can know in what columns values were before others.
    assert(refused > 0)
  }
}

object FamilyFeedSuite {
  private type Shown = (RecordType.Value, Option[Seq[Any]], Long)

  private val Avro = Provider().set("spark.sql.streaming.stateStore.encodingFormat" -> "avro")

  // Without its changelog it has no changes to show.
  private val RocksDB = Provider()
    .by("org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
    .set("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true")

  private val Narrow = new StructType().add("count", LongType)
  private val Wide = new StructType().add("more", IntegerType).add("count", LongType)

  private val F = Kind(name = "f")
  private val G = Kind(name = "g")
  private val H = Kind(name = "h")

  /** A family with one key. */
  private final case class Kind(
      keys: StructType = FamilyRows.keySchema,
      values: StructType = Narrow,
      hasLists: Boolean = false,
      hasPrefix: Boolean = false,
      name: String = "family") {

    def create(store: StateStore): Unit =
      store.createColFamilyIfAbsent(name, keys, values, encoder, hasLists, isInternal = false)

    def key: UnsafeRow = row(keys, 3L)

    /** A value with a number in its columns, but for one more that has 7. */
    def value(number: Long): UnsafeRow = row(values, number)

    private def encoder: KeyStateEncoderSpec =
      if (hasPrefix) PrefixKeyScanStateEncoderSpec(keys, 1) else NoPrefixKeyStateEncoderSpec(keys)
  }

  private def row(schema: StructType, number: Long): UnsafeRow = {
    val columns = schema.map(_.dataType).map {
      case StringType => UTF8String.fromString(number.toString)
      case IntegerType => 7
      case DoubleType => number.toDouble
      case _ => number
    }
    UnsafeProjection.create(schema)(new GenericInternalRow(columns.toArray[Any])).copy()
  }

  private def columns(row: UnsafeRow, schema: StructType): Seq[Any] = {
    assert(row.numFields == schema.length)
    row.toSeq(schema).map {
      case text: UTF8String => text.toString
      case column => column
    }
  }
}

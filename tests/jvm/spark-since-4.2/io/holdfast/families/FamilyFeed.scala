package io.holdfast.families

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
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

import io.holdfast.testkit.{Provider, TestStore}

/** Commits to a store with column families, and what the change feed then shows of one. */
trait FamilyFeed {
  import FamilyFeed._

  protected def use[A](settings: Provider)(body: TestStore => A): A =
    TestStore.use(settings.withFamilies)(body)

  protected def commit(test: TestStore, version: Long, families: Seq[Kind])(
      change: StateStore => Unit): Unit = {
    val store = test.write(version)
    families.foreach(_.create(store))
    change(store)
    val _ = store.commit()
  }

  /** What is shown up to a version: kind, columns of the value, and batch. Of a provider that Spark has
    * told of a family, or of one that knows the files alone.
    */
  protected def feed(
      test: TestStore,
      from: Long,
      to: Long,
      kind: Kind,
      told: Boolean): Seq[Shown] = {
    test.reopen()
    if (told) {
      val store = test.write(to)
      kind.create(store)
      store.abort()
    }
    shown(test, from, to, kind)
  }

  protected def shown(
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
}

object FamilyFeed {
  type Shown = (RecordType.Value, Option[Seq[Any]], Long)

  val Avro = Provider().set("spark.sql.streaming.stateStore.encodingFormat" -> "avro")

  // Without its changelog it has no changes to show.
  val RocksDB = Provider()
    .by("org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
    .set("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true")

  val Narrow = new StructType().add("count", LongType)
  val Wide = new StructType().add("more", IntegerType).add("count", LongType)

  /** A family with one key. */
  final case class Kind(
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

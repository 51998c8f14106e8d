package io.holdfast.scans

import scala.util.{Random, Using}

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec,
  StateStore,
  UnsafeRowPair
}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, SeededTests, TemporaryFolder}

/** Scans by range and by prefix, the same random operations on Spark's RocksDB provider beside
  * Holdfast: same rows, same order of the ordering columns.
  */
class RangeScanSuite extends AnyFunSuite with SeededTests {
  import RangeScanSuite._

  Seq(
    Columns("longs", LongType),
    Columns("ints, then shorts", IntegerType, ShortType),
    Columns("bytes, then longs", ByteType, LongType),
    Columns("doubles", DoubleType),
    Columns("floats, then ints", FloatType, IntegerType)).foreach { columns =>
    seeded(s"range scans over ${columns.name} agree with Spark's RocksDB provider") { random =>
      sideBySide(columns, random)
    }
  }

  private def sideBySide(columns: Columns, random: Random): Unit = {
    val holdfast = Provider(keySchema = columns.schema, valueSchema = valueSchema)
    val rocksdb = holdfast
      .by(RocksDB)
      .set("spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows" -> false)
    val encoder = RangeKeyScanStateEncoderSpec(columns.schema, columns.ordinals)
    TemporaryFolder.use { root =>
      Using.Manager { use =>
        val providers = Seq(
          use(Closing(holdfast.openEncoded(root.resolve("holdfast"), encoder))).provider,
          use(Closing(rocksdb.openEncoded(root.resolve("rocksdb"), encoder))).provider)
        (0L until 8L).foreach { version =>
          val stores = providers.map(_.getStore(version, None))
          try {
            (1 to 60).foreach(_ => change(columns, random, stores))
            (1 to 15).foreach(_ => compareScan(columns, random, stores))
            compare("iterator", stores.map(store => keys(columns, store.iterator())))
            stores.foreach(_.commit())
          } finally stores.foreach(store => if (!store.hasCommitted) store.abort())
        }
      }.get
    }
  }

  private def change(columns: Columns, random: Random, stores: Seq[StateStore]): Unit = {
    val key = columns.randomKey(random)
    if (random.nextInt(4) == 0) stores.foreach(_.remove(key))
    else {
      val number = random.nextLong()
      stores.foreach(_.put(key, value(number)))
    }
    compare("get", stores.map(store => Option(store.get(key)).map(_.getLong(0))))
  }

  private def compareScan(columns: Columns, random: Random, stores: Seq[StateStore]): Unit = {
    val start = Option.when(random.nextInt(4) > 0)(columns.randomKey(random).copy())
    val end = Option.when(random.nextInt(4) > 0)(columns.randomKey(random).copy())
    compare(
      s"scan from ${start.map(columns.show)} until ${end.map(columns.show)}",
      stores.map(store => keys(columns, store.rangeScan(start, end))))
  }

  private def compare[A](what: String, results: Seq[A]): Unit =
    if (results.distinct.size != 1) fail(s"$what differs: ${results.mkString("\n")}")

  // Equal ordering columns may come in any order, so rows are compared as runs of those.
  private def keys(
      columns: Columns,
      rows: Iterator[UnsafeRowPair]): Seq[(String, Set[(String, Long)])] = {
    val found = rows
      .map(pair => (columns.showOrdering(pair.key), columns.show(pair.key), pair.value.getLong(0)))
      .toVector
    found.map(_._1).distinct.map { ordering =>
      ordering -> found.filter(_._1 == ordering).map(row => row._2 -> row._3).toSet
    }
  }

  test("keys without a value in an ordering column come last") {
    val columns = Columns("longs", LongType)
    val settings = Provider(keySchema = columns.schema, valueSchema = valueSchema)
    TemporaryFolder.use { root =>
      val encoder = RangeKeyScanStateEncoderSpec(columns.schema, columns.ordinals)
      Using.resource(Closing(settings.openEncoded(root, encoder))) { closing =>
        val store = closing.provider.getStore(0, None)
        Seq[Any](null, 3L, Long.MinValue, -1L, Long.MaxValue, 0L).foreach { number =>
          store.put(columns.key(Seq(number), "x"), value(1L))
        }
        val order = store.iterator().map(pair => columns.showOrdering(pair.key)).toList
        assert(order === List(s"${Long.MinValue}", "-1", "0", "3", s"${Long.MaxValue}", "null"))
        store.abort()
      }
    }
  }

  test("rows at a bound are told apart by columns of a fixed size, as RocksDB does") {
    val schema = StructType(Seq(StructField("time", LongType), StructField("id", LongType)))
    val project = UnsafeProjection.create(schema)
    def key(id: Long): UnsafeRow = project(new GenericInternalRow(Array[Any](5L, id))).copy()
    val holdfast = Provider(keySchema = schema, valueSchema = valueSchema)
    TemporaryFolder.use { root =>
      Seq(holdfast, holdfast.by(RocksDB)).zipWithIndex.foreach { case (settings, i) =>
        val encoder = RangeKeyScanStateEncoderSpec(schema, Seq(0))
        val folder = root.resolve(i.toString)
        Using.resource(Closing(settings.openEncoded(folder, encoder))) { closing =>
          val store = closing.provider.getStore(0, None)
          (1L to 9L).foreach(id => store.put(key(id), value(id)))
          val found = store.rangeScan(Some(key(3L)), Some(key(7L))).map(_.key.getLong(1)).toSet
          assert(found == Set(3L, 4L, 5L, 6L))
          store.abort()
        }
      }
    }
  }

  test("a range is deleted with its first key and without its last") {
    val columns = Columns("ints", IntegerType)
    val settings = Provider(keySchema = columns.schema, valueSchema = valueSchema)
    TemporaryFolder.use { root =>
      val encoder = RangeKeyScanStateEncoderSpec(columns.schema, columns.ordinals)
      Using.resource(Closing(settings.openEncoded(root, encoder))) { closing =>
        val store = closing.provider.getStore(0, None)
        (1 to 9).foreach(number => store.put(columns.key(Seq(number), ""), value(number.toLong)))
        store.deleteRange(columns.key(Seq(3), "").copy(), columns.key(Seq(7), "").copy())
        store.commit()
        val left = closing.provider.getReadStore(1, None).iterator().map(_.value.getLong(0)).toList
        assert(left === List(1L, 2L, 7L, 8L, 9L))
      }
    }
  }

  test("scans are refused on stores that were made for others") {
    val columns = Columns("longs", LongType)
    val settings = Provider(keySchema = columns.schema, valueSchema = valueSchema)
    def refused(encoderIsRange: Boolean)(scan: StateStore => Any): Unit =
      TemporaryFolder.use { root =>
        val encoder =
          if (encoderIsRange) RangeKeyScanStateEncoderSpec(columns.schema, columns.ordinals)
          else PrefixKeyScanStateEncoderSpec(columns.schema, 1)
        Using.resource(Closing(settings.openEncoded(root, encoder))) { closing =>
          val store = closing.provider.getStore(0, None)
          val e = intercept[org.apache.spark.SparkThrowable](scan(store))
          assert(
            Set(
              "STATE_STORE_UNSUPPORTED_OPERATION",
              "STATE_STORE_INCORRECT_NUM_PREFIX_COLS_FOR_RANGE_SCAN",
              "STATE_STORE_INCORRECT_NUM_ORDERING_COLS_FOR_PREFIX_SCAN",
              "STATE_STORE_INCORRECT_NUM_PREFIX_COLS_FOR_PREFIX_SCAN").contains(e.getCondition),
            e.getCondition)
          store.abort()
        }
      }
    refused(encoderIsRange = true)(_.prefixScan(columns.key(Seq(1L), "")))
    refused(encoderIsRange = false)(_.rangeScan(None, None))
    // A prefix of two columns where the store was made for one.
    refused(encoderIsRange = false)(_.prefixScan(columns.key(Seq(1L), "")))
  }
}

object RangeScanSuite {
  private val RocksDB =
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  private val valueSchema = StructType(Seq(StructField("number", LongType)))
  private val projectValue = UnsafeProjection.create(valueSchema)

  private def value(number: Long): UnsafeRow =
    projectValue(new GenericInternalRow(Array[Any](number)))

  /** A provider as a resource. */
  final case class Closing(
      provider: org.apache.spark.sql.execution.streaming.state.StateStoreProvider)
      extends AutoCloseable {
    override def close(): Unit = provider.close()
  }

  /** Keys of some ordering columns and a name between them and the end. */
  final case class Columns(name: String, types: DataType*) {
    val schema: StructType = StructType(
      StructField("name", StringType) +: types.zipWithIndex.map { case (dataType, i) =>
        StructField(s"order$i", dataType)
      })
    val ordinals: Seq[Int] = types.indices.map(_ + 1)
    private val project = UnsafeProjection.create(schema)

    def key(ordering: Seq[Any], name: String): UnsafeRow =
      project(new GenericInternalRow((UTF8String.fromString(name) +: ordering).toArray[Any]))

    def randomKey(random: Random): UnsafeRow =
      key(types.map(randomValue(_, random)), "abc".take(random.nextInt(4)))

    def showOrdering(key: UnsafeRow): String =
      ordinals.map(i => s"${key.get(i, schema(i).dataType)}").mkString(",")

    def show(key: UnsafeRow): String = s"${key.getString(0)}:${showOrdering(key)}"

    // Few values near each other and near the limits, so that bounds and ties meet rows.
    private def randomValue(dataType: DataType, random: Random): Any = dataType match {
      case ByteType => pick(random, Byte.MinValue, -1.toByte, 0.toByte, 1.toByte, Byte.MaxValue)
      case ShortType => pick(random, Short.MinValue, -1.toShort, 0.toShort, Short.MaxValue)
      case IntegerType => pick(random, Int.MinValue, -2, -1, 0, 1, 2, 256, Int.MaxValue)
      case LongType => pick(random, Long.MinValue, -257L, -1L, 0L, 1L, 255L, 256L, Long.MaxValue)
      case FloatType =>
        pick(random, Float.NegativeInfinity, -1.5f, 0f, Float.MinPositiveValue, 1f, Float.NaN)
      case DoubleType =>
        pick(
          random,
          Double.NegativeInfinity,
          -1e300,
          -1.5,
          0.0,
          Double.MinPositiveValue,
          2.5,
          Double.PositiveInfinity,
          Double.NaN)
      case other => throw new IllegalArgumentException(s"no values of $other")
    }

    private def pick(random: Random, values: Any*): Any = values(random.nextInt(values.size))
  }
}

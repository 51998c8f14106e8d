package io.holdfast.python

import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{LongType, StructType}
import org.json4s.{DefaultFormats, Extraction}
import org.json4s.jackson.JsonMethods
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.StoreRows
import io.holdfast.query.QuerySession
import io.holdfast.testkit.TemporaryFolder

/** Column families that Python has the providers of Spark and of Holdfast write and read. */
class CarriedFamiliesSuite extends AnyFunSuite with BeforeAndAfterAll {
  import CarriedFamiliesSuite._

  private var spark: SparkSession = _

  override protected def beforeAll(): Unit = {
    spark = QuerySession.start("CarriedFamilies")
    // The coordinator that providers report to starts with the streams of a session.
    require(spark.streams.active.isEmpty)
  }

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  Seq(RocksDB, Holdfast).foreach { provider =>
    test(s"every row comes back, values of lists in their order: ${provider.split('.').last}") {
      TemporaryFolder.use { folder =>
        val records = file(Rows)
        val written = Files.write(folder.resolve("written"), records)
        val store = described(folder, provider, Families)
        assert(StoreRows.write(store, written.toString) === Rows.size)

        val read = folder.resolve("read")
        assert(StoreRows.read(store, read.toString) === Rows.size)
        assert(Files.readAllBytes(read) === records)
      }
    }

    test(s"rows that nobody has a definition of are none: ${provider.split('.').last}") {
      TemporaryFolder.use { folder =>
        val written = Files.write(folder.resolve("written"), file(Rows))
        StoreRows.write(described(folder, provider, Families), written.toString)
        val fewer = described(folder, provider, Families.take(1))
        val error =
          intercept[IllegalStateException](StoreRows.read(fewer, folder.resolve("read").toString))
        assert(error.getMessage.contains("found seen, which are in none of them"))
      }
    }
  }

  test("values in Avro are read by the schema that they were written with") {
    TemporaryFolder.use { folder =>
      val written = Files.write(folder.resolve("written"), file(Rows.take(1)))
      val avro = Map("spark.sql.streaming.stateStore.encodingFormat" -> "avro")
      val first =
        Families.head.copy(keySchemas = Map("0" -> Key.json), valueSchemas = Map("0" -> Value.json))
      StoreRows.write(described(folder, RocksDB, Seq(first), avro), written.toString)

      val wider = Value.add("more", LongType)
      val second = first.copy(
        valueSchema = wider.json,
        valueSchemas = first.valueSchemas + ("1" -> wider.json))
      val read = folder.resolve("read")
      StoreRows.read(described(folder, RocksDB, Seq(second), avro), read.toString)
      assert(Files.readAllBytes(read) === file(Seq((2, row(Key, 7L), row(wider, 70L, null)))))
    }
  }
}

object CarriedFamiliesSuite {
  private type Carried = (Int, UnsafeRow, UnsafeRow)

  private val RocksDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
  private val Holdfast = "io.holdfast.HoldfastStateStoreProvider"

  private val Key = new StructType().add("k", LongType)
  private val Value = new StructType().add("n", LongType)

  private val Families =
    Seq(family(2, "total", hasLists = false), family(4, "seen", hasLists = true))

  private val Rows: Seq[Carried] =
    (2, row(Key, 7L), row(Value, 70L)) +:
      (for (key <- Seq(1L, 2L); n <- Seq(5L, -3L, 5L, 0L)) yield (4, row(Key, key), row(Value, n)))

  private def family(table: Int, name: String, hasLists: Boolean): DescribedFamily = {
    val encoder = """{"keyStateEncoderType":"NoPrefixKeyStateEncoderSpec"}"""
    DescribedFamily(
      table,
      name,
      encoder,
      Key.json,
      Value.json,
      hasLists,
      false,
      Map.empty,
      Map.empty)
  }

  private def described(
      folder: Path,
      provider: String,
      families: Seq[DescribedFamily],
      settings: Map[String, String] = Map.empty): String = {
    val nothing = new StructType().json
    val named = Map("spark.sql.streaming.stateStore.providerClass" -> provider)
    val store = DescribedStore(
      folder.resolve("state").toString,
      operatorId = 0,
      partitionId = 0,
      storeName = "default",
      version = 3,
      nothing,
      nothing,
      prefixColumns = 0,
      named ++ settings,
      Some(families.toList))
    Files.createDirectories(folder.resolve("state/0/0"))
    JsonMethods.compact(Extraction.decompose(store)(DefaultFormats))
  }

  private def file(rows: Seq[Carried]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    rows.foreach { case (table, key, value) =>
      out.writeInt(table)
      RowFile.write(out, key)
      RowFile.write(out, value)
    }
    out.writeInt(RowFile.EndMarker)
    bytes.toByteArray
  }

  private def row(schema: StructType, values: Any*): UnsafeRow =
    UnsafeProjection.create(schema)(new GenericInternalRow(values.toArray[Any])).copy()
}

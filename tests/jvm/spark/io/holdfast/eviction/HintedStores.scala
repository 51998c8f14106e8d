package io.holdfast.eviction

import java.nio.file.Path
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStoreConf, StateStoreId}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType, LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import io.holdfast.HoldfastStateStoreProvider
import io.holdfast.checkpoint.VersionId
import io.holdfast.conf.StoreContext
import io.holdfast.table.{EventTime, Rows}
import io.holdfast.testkit.{Initialise, LocalFileManager}

/** The two stores of one side of a stream-stream join, as Spark makes them: numbers of values by key,
  * and values by key and index.
  */
final class HintedStores(folder: Path, settings: Map[String, String] = Map.empty)
    extends AutoCloseable {
  import HintedStores._

  val run: UUID = UUID.randomUUID()

  private val numbers = open(Numbers, keySchema, new StructType().add("value", LongType))
  private val values = open(Values, keySchema.add("index", LongType), valueSchema)

  /** Both stores of a version, opened in this order as a join does. */
  def write(version: Long): SideStores =
    new SideStores(numbers.getStore(version), values.getStore(version))

  def readNumbers(version: Long): ReadStateStore = numbers.getReadStore(version)

  /** The local property and its text that gives a store a hint. */
  def property(store: String, version: Long, hint: EvictionHint): (String, String) =
    EvictionHint.property(run, 0L, store) -> EvictionHint.text(version, hint)

  /** What the store of numbers knows of itself. */
  def context: StoreContext = numbers.store.context

  /** A version of the store of numbers. */
  def version(number: Long): Rows = rowsOf(numbers, number)

  /** A version of the store of values. */
  def versionOfValues(number: Long): Rows = rowsOf(values, number)

  override def close(): Unit = {
    numbers.close()
    values.close()
  }

  private def rowsOf(provider: HoldfastStateStoreProvider, number: Long): Rows =
    provider.store.versions.open(VersionId(number, None)).rows

  private def open(name: String, key: StructType, value: StructType): HoldfastStateStoreProvider = {
    val hadoopConf = new Configuration
    hadoopConf.set(
      SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
      classOf[LocalFileManager].getName)
    val conf = new SQLConf
    settings.foreach { case (name, value) => conf.setConfString(name, value) }
    val provider = new HoldfastStateStoreProvider
    Initialise(
      provider,
      StateStoreId(folder.toString, 0L, 0, name),
      key,
      value,
      prefixColumns = None,
      columnFamilies = false,
      new StateStoreConf(conf),
      hadoopConf,
      run)
    provider
  }
}

object HintedStores {
  val Numbers = "left-keyToNumValues"
  val Values = "left-keyWithIndexToValue"

  // Columns of every kind that a key is laid out by: of a word, longer, and null.
  val keySchema: StructType = new StructType()
    .add("name", StringType)
    .add("number", LongType)
    .add("price", DecimalType(30, 2))

  val valueSchema: StructType = new StructType().add("at", LongType).add("matched", LongType)

  /** Where the time of a value lies. */
  val At: EventTime = EventTime(inKey = false, EventTime.Column(fields = 2, ordinal = 0))

  private val keyOf = UnsafeProjection.create(keySchema)
  private val indexedKeyOf = UnsafeProjection.create(keySchema.add("index", LongType))
  private val numberOf = UnsafeProjection.create(Array[DataType](LongType))
  private val valueOf = UnsafeProjection.create(valueSchema)

  private def columns(number: Long): Seq[Any] = Seq(
    if (number % 3 == 0) null else UTF8String.fromString(s"name $number"),
    number,
    if (number % 2 == 0) null else Decimal(BigDecimal(number), 30, 2))

  def key(number: Long): UnsafeRow = keyOf(new GenericInternalRow(columns(number).toArray)).copy()

  def indexedKey(number: Long, index: Long): UnsafeRow =
    indexedKeyOf(new GenericInternalRow((columns(number) :+ index).toArray)).copy()

  def count(values: Long): UnsafeRow = numberOf(new GenericInternalRow(Array[Any](values))).copy()

  def value(at: Long): UnsafeRow = valueOf(new GenericInternalRow(Array[Any](at, 0L))).copy()
}

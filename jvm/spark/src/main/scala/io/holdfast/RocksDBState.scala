package io.holdfast

import java.io._
import java.nio.file.{Files, Path, Paths}
import java.util.UUID

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}
import org.json4s.{DefaultFormats, Formats}
import org.json4s.jackson.JsonMethods.parse

import io.holdfast.file.StateFile

/** The rows of stores of Spark's RocksDB provider, to and from the records of `jvm/FORMAT.md`: what
  * Python calls through py4j to carry state between the two.
  *
  * Records are uncompressed and have no checksums. Needs a running SparkContext; one thread for each
  * store.
  */
object RocksDBState {

  private val Provider = classOf[RocksDBStateStoreProvider].getName

  /** Writes all rows of a store's version to a file.
    *
    * @param store
    *   JSON of a [[RocksDBStore]]
    * @param records
    *   path of the file
    * @return
    *   number of rows
    */
  def read(store: String, records: String): Long = use(store) { (described, provider) =>
    val rows = provider.getReadStore(described.version, None)
    try {
      Using.resource(output(Paths.get(records))) { out =>
        var count = 0L
        val iterator = rows.iterator()
        try {
          iterator.foreach { row =>
            writeRow(out, row.key)
            writeRow(out, row.value)
            count += 1
          }
        } finally iterator.close()
        out.writeInt(StateFile.EndMarker)
        count
      }
    } finally rows.release()
  }

  /** Makes a store's version of the rows in a file, as a snapshot that needs no version before it.
    *
    * @param store
    *   JSON of a [[RocksDBStore]] whose folder has no files yet
    * @param records
    *   path of the file
    * @return
    *   number of rows
    */
  def write(store: String, records: String): Long = use(store) { (described, provider) =>
    val rows = provider.getStore(
      described.version - 1,
      stateStoreCkptId = None,
      forceSnapshotOnCommit = true,
      loadEmpty = true)
    try {
      val count = Using.resource(input(Paths.get(records)))(putAll(_, rows, described))
      rows.commit()
      count
    } finally if (!rows.hasCommitted) rows.abort()
  }

  private def putAll(in: DataInputStream, rows: StateStore, described: RocksDBStore): Long = {
    val key = new UnsafeRow(described.key.length)
    val value = new UnsafeRow(described.value.length)
    var count = 0L
    var keyLength = in.readInt()
    while (keyLength != StateFile.EndMarker) {
      readRow(in, key, keyLength)
      readRow(in, value, in.readInt())
      rows.put(key, value)
      count += 1
      keyLength = in.readInt()
    }
    count
  }

  private def writeRow(out: DataOutputStream, row: UnsafeRow): Unit = {
    out.writeInt(row.getSizeInBytes)
    row.writeToStream(out, null)
  }

  private def readRow(in: DataInputStream, row: UnsafeRow, length: Int): Unit =
    row.pointTo(in.readNBytes(length), length)

  private def use(store: String)(action: (RocksDBStore, StateStoreProvider) => Long): Long = {
    val described = RocksDBStore.of(store)
    val provider = StateStoreProvider.createAndInit(
      StateStoreProviderId(described.id, UUID.randomUUID()),
      described.key,
      described.value,
      described.encoder,
      useColumnFamilies = false,
      described.conf(Provider),
      new Configuration(SparkContext.getOrCreate().hadoopConfiguration),
      useMultipleValuesPerKey = false,
      stateSchemaProvider = None)
    try action(described, provider)
    finally provider.close()
  }

  private def output(file: Path): DataOutputStream =
    new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))

  private def input(file: Path): DataInputStream =
    new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))
}

/** A store of Spark's RocksDB provider, as Python describes it.
  *
  * @param stateFolder
  *   the folder `state` of a checkpoint
  * @param keySchema
  *   JSON of the schema, as Spark keeps it
  * @param prefixColumns
  *   leading columns of the key that a prefix scan goes by; 0 for none
  * @param settings
  *   what the query is bound to, by full names
  */
final private[holdfast] case class RocksDBStore(
    stateFolder: String,
    operatorId: Long,
    partitionId: Int,
    storeName: String,
    version: Long,
    keySchema: String,
    valueSchema: String,
    prefixColumns: Int,
    settings: Map[String, String]) {

  val key: StructType = RocksDBStore.schema(keySchema)

  val value: StructType = RocksDBStore.schema(valueSchema)

  def id: StateStoreId = StateStoreId(stateFolder, operatorId, partitionId, storeName)

  def encoder: KeyStateEncoderSpec =
    if (prefixColumns > 0) PrefixKeyScanStateEncoderSpec(key, prefixColumns)
    else NoPrefixKeyStateEncoderSpec(key)

  def conf(provider: String): StateStoreConf = {
    val conf = new SQLConf
    settings.foreach { case (name, value) => conf.setConfString(name, value) }
    conf.setConf(SQLConf.STATE_STORE_PROVIDER_CLASS, provider)
    StateStoreConf(conf)
  }
}

private[holdfast] object RocksDBStore {
  private implicit val formats: Formats = DefaultFormats

  def of(json: String): RocksDBStore = parse(json).extract[RocksDBStore]

  private def schema(json: String): StructType =
    DataType.fromJson(json).asInstanceOf[StructType]
}

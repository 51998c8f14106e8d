package io.holdfast.testkit

import java.nio.file.Path
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreConf,
  StateStoreId,
  StateStoreProvider
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import io.holdfast.HoldfastStateStoreProvider

/** How a test sets up a provider.
  *
  * @param className
  *   the provider's class
  * @param settings
  *   Spark settings by name, on top of [[Provider.defaults]]
  * @param fileManager
  *   class of the checkpoint file manager; nothing for the default
  * @param prefixColumns
  *   columns of a key that prefix scans take, for a store that is made for them
  * @param options
  *   what the operator says of its store beside the settings, by name
  * @param fileOperations
  *   what the file manager asks before everything it does
  * @param columnFamilies
  *   whether the store has column families
  */
final case class Provider(
    className: String = Provider.Holdfast,
    settings: Map[String, String] = Map.empty,
    keySchema: StructType = TestRows.keySchema,
    valueSchema: StructType = TestRows.valueSchema,
    fileManager: String = classOf[LocalFileManager].getName,
    prefixColumns: Option[Int] = None,
    options: Map[String, String] = Map.empty,
    fileOperations: Option[FileOperations] = None,
    columnFamilies: Boolean = false) {

  def set(entries: (String, Any)*): Provider =
    copy(settings = settings ++ entries.map { case (name, value) => name -> value.toString })

  def codec(name: String): Provider = set(SQLConf.STATE_STORE_COMPRESSION_CODEC.key -> name)

  def rowChecksums(enabled: Boolean): Provider =
    set(Provider.RowChecksums -> enabled)

  /** Snapshots after more than this many deltas. */
  def minDeltas(count: Int): Provider =
    set(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key -> count)

  /** Versions that stay readable after the newest. */
  def retained(count: Int): Provider = set(SQLConf.MIN_BATCHES_TO_RETAIN.key -> count)

  def inMemory(versions: Int): Provider =
    set(SQLConf.MAX_BATCHES_TO_RETAIN_IN_MEMORY.key -> versions)

  def withFamilies: Provider = copy(columnFamilies = true)

  def by(otherClass: String): Provider = copy(className = otherClass)

  def watched(operations: FileOperations): Provider =
    copy(fileManager = classOf[WatchedFileManager].getName, fileOperations = Some(operations))

  def storeId(root: Path): StateStoreId = StateStoreId(root.toString, 0L, 0)

  /** An initialised provider of the store in a folder. */
  def open(root: Path): StateStoreProvider = open(storeId(root))

  /** An initialised provider of a store. */
  def open(id: StateStoreId): StateStoreProvider = {
    val provider = uninitialised()
    Initialise(
      provider,
      id,
      keySchema,
      valueSchema,
      prefixColumns,
      columnFamilies,
      storeConf,
      hadoopConf,
      UUID.randomUUID())
    provider
  }

  def uninitialised(): StateStoreProvider = StateStoreProvider.create(className)

  lazy val storeConf: StateStoreConf = {
    val conf = new SQLConf
    (Provider.defaults ++ settings).foreach { case (name, value) =>
      conf.setConfString(name, value)
    }
    new StateStoreConf(conf, options)
  }

  def hadoopConf: Configuration = {
    val conf = new Configuration(Provider.hadoopDefaults)
    if (fileManager.nonEmpty) {
      conf.set(SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key, fileManager)
    }
    ObjectFileSystem.settings(conf)
    fileOperations.foreach(operations => conf.set(FileOperations.Setting, operations.name))
    conf
  }
}

object Provider extends EncodedStores {
  private val State = "org.apache.spark.sql.execution.streaming.state"

  val Holdfast: String = classOf[HoldfastStateStoreProvider].getName

  /** Spark's default provider. */
  val Spark: String = s"$State.HDFSBackedStateStoreProvider"

  /** Setting that gives rows checksums, by its name because not all lines have it. */
  val RowChecksums: String = "spark.sql.streaming.stateStore.rowChecksum.enabled"

  /** Setting that puts files with checksums beside those of the state. Spark 4.1 has it on, later ones
    * for stores whose versions have ids.
    */
  val FileChecksums: String = "spark.sql.streaming.checkpoint.fileChecksum.enabled"

  val codecs: Seq[String] = Seq("lz4", "zstd", "snappy", "lzf")

  // Read from the jars once: every new Configuration would do it again.
  private val hadoopDefaults = new Configuration

  /** Spark turns some settings on when it runs under test; here they are as users have them. */
  private val defaults = Map(
    RowChecksums -> "false",
    FileChecksums -> "false",
    "spark.sql.streaming.stateStore.autoSnapshotRepair.enabled" -> "false")
}

package io.holdfast

import java.io.File

import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.state.StateStoreTestsHelper._
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.BeforeAndAfterEach

/** The suite that Spark 3.5 publishes for every state store provider, run on Holdfast. */
class HoldfastContractSuite
    extends StateStoreSuiteBase[SnapshotIteratingProvider]
    with BeforeAndAfterEach {

  private type Provider = SnapshotIteratingProvider

  override def beforeEach(): Unit = {
    super.beforeEach()
    StateStore.stop()
  }

  override def afterEach(): Unit =
    try StateStore.stop()
    finally super.afterEach()

  override def newStoreProvider(): Provider = initialised(newStoreId())

  override def newStoreProvider(storeId: StateStoreId): Provider = initialised(storeId)

  override def newStoreProvider(
      minDeltasForSnapshot: Int,
      numOfVersToRetainInMemory: Int): Provider =
    initialised(
      newStoreId(),
      sqlConf = getDefaultSQLConf(minDeltasForSnapshot, numOfVersToRetainInMemory))

  override def newStoreProvider(numPrefixCols: Int): Provider =
    initialised(newStoreId(), numPrefixCols)

  override def getDefaultSQLConf(
      minDeltasForSnapshot: Int,
      numOfVersToRetainInMemory: Int): SQLConf = {
    val conf = new SQLConf
    conf.setConf(SQLConf.STATE_STORE_PROVIDER_CLASS, classOf[HoldfastStateStoreProvider].getName)
    conf.setConf(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT, minDeltasForSnapshot)
    conf.setConf(SQLConf.MAX_BATCHES_TO_RETAIN_IN_MEMORY, numOfVersToRetainInMemory)
    conf.setConf(SQLConf.MIN_BATCHES_TO_RETAIN, 2)
    // The suite sets the codec on the session's settings.
    conf.setConf(SQLConf.STATE_STORE_COMPRESSION_CODEC, SQLConf.get.stateStoreCompressionCodec)
    conf
  }

  override def getLatestData(provider: Provider): Set[((String, Int), Int)] = {
    val folder = new File(new Path(provider.stateStoreId.storeCheckpointLocation().toUri).toString)
    // The folder comes with its first file.
    val versions = Option(folder.list()).toSeq.flatten
      .filter(name => name.endsWith(".delta") && !name.startsWith("."))
      .map(_.stripSuffix(".delta").toInt)
    getData(provider, (0 +: versions).max)
  }

  override def getData(provider: Provider, version: Int): Set[((String, Int), Int)] =
    tryWithProviderResource(newStoreProvider(provider.stateStoreId)) { reloaded =>
      val store = reloaded.getReadStore(version.toLong)
      try rowPairsToDataSet(store.iterator())
      finally store.abort()
    }

  private def newStoreId(): StateStoreId = StateStoreId(newDir(), Random.nextInt().toLong, 0)

  private def defaultSQLConf: SQLConf = getDefaultSQLConf(
    SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.defaultValue.get,
    SQLConf.MAX_BATCHES_TO_RETAIN_IN_MEMORY.defaultValue.get)

  private def initialised(
      id: StateStoreId,
      prefixColumns: Int = 0,
      sqlConf: SQLConf = defaultSQLConf): Provider = {
    val hadoopConf = new Configuration
    val provider = new SnapshotIteratingProvider
    provider.init(
      id,
      keySchema,
      valueSchema,
      prefixColumns,
      new StateStoreConf(sqlConf),
      hadoopConf)
    provider
  }
}

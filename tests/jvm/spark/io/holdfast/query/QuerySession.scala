package io.holdfast.query

import java.nio.file.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.HoldfastCheckpointFileManager
import io.holdfast.store.{OpenStores, StoreParts}
import io.holdfast.testkit.Provider

/** Sessions for queries on two partitions, without maintenance beside the tasks. */
object QuerySession {

  val Partitions = 2

  /** Compiling takes longer than running for few rows, and so does looking at what rules have done. */
  val NotCompiled: Map[String, String] = Map(
    SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> "false",
    SQLConf.CODEGEN_FACTORY_MODE.key -> "NO_CODEGEN",
    SQLConf.PLAN_CHANGE_VALIDATION.key -> "false")

  private val LocalFiles = classOf[HoldfastCheckpointFileManager].getName

  def start(name: String, settings: (String, String)*): SparkSession = SparkSession
    .builder()
    .config(NotCompiled ++ settings)
    .master("local[2]")
    .appName(name)
    .config(SQLConf.SHUFFLE_PARTITIONS.key, Partitions)
    .config(SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key, LocalFiles)
    .config(SQLConf.STREAMING_MAINTENANCE_INTERVAL.key, "1d")
    .config(Provider.RowChecksums, "false")
    .config(Provider.FileChecksums, "false")
    .getOrCreate()

  /** The stores that queries with checkpoints below a folder have open in this JVM. */
  def storesIn(folder: Path): Seq[StoreParts] =
    OpenStores.all.filter(_.context.id.checkpointRootLocation.contains(folder.toString))

  /** Ends a session, and the stores that its queries left open in this JVM. */
  def stop(spark: SparkSession): Unit = {
    StateStore.stop()
    spark.stop()
  }
}

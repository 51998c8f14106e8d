package io.holdfast.sim.run

import java.util.UUID

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StreamExecution
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.conf.HoldfastConf
import io.holdfast.sim.world.Plan

/** What Spark gives a provider: settings, and the run of the query. */
final class StoreSettings(plan: Plan) {
  import StoreSettings._

  private[this] val runs = mutable.Map.empty[Int, Configuration]

  private[this] val common: Map[String, String] = Map(
    s"$Streaming.minBatchesToRetain" -> plan.retained.toString,
    s"$Streaming.maxBatchesToRetainInMemory" -> plan.inMemory.toString,
    s"$State.compression.codec" -> plan.codec,
    s"$State.checkpointFormatVersion" -> plan.format.toString,
    s"$State.rowChecksum.enabled" -> plan.rowChecksums.toString,
    s"$Streaming.checkpoint.fileChecksum.enabled" -> plan.fileChecksums.toString,
    s"$State.fileChecksumThreadPoolSize" -> "0",
    s"$State.autoSnapshotRepair.enabled" -> plan.repair.toString,
    s"$State.autoSnapshotRepair.numFailuresBeforeActivating" -> "1",
    s"$State.commitValidation.enabled" -> "false",
    s"$State.maintenanceInterval" -> "100") ++
    plan.minDeltas.map(s"$State.minDeltasForSnapshot" -> _.toString) ++
    plan.families.filter(_.evolves).map(_ => s"$State.encodingFormat" -> "avro")

  /** As the query runs. */
  val limited: StateStoreConf =
    conf(common ++ plan.memoryLimit.map(limit => HoldfastConf.MemoryLimit.name -> limit.toString))

  /** With all the memory it needs. */
  val unlimited: StateStoreConf = conf(common)

  private[this] def conf(settings: Map[String, String]): StateStoreConf = {
    val made = new SQLConf
    settings.foreach { case (name, value) => made.setConfString(name, value) }
    new StateStoreConf(made)
  }

  /** Hadoop's settings as stores of a run of the query have them. */
  def hadoop(run: Int): Configuration = runs.getOrElseUpdate(
    run, {
      val made = new Configuration(false)
      made.set(StreamExecution.RUN_ID_KEY, runId(run).toString)
      made.set(s"$Streaming.checkpointFileManagerClass", classOf[SparksFileManager].getName)
      made
    })
}

object StoreSettings {
  private val Streaming = "spark.sql.streaming"
  private val State = s"$Streaming.stateStore"

  def runId(run: Int): UUID = new UUID(0x5151515151514151L, run.toLong)
}

package io.holdfast.operators

import java.nio.file.{Path, Paths}
import java.util.concurrent.CountDownLatch

import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{Dataset, Row, SparkSession}

import io.holdfast.HoldfastCheckpointFileManager
import io.holdfast.query.QuerySession

/** A driver process of a suite that kills it. Its first argument is a stage, its second one the folder of
  * the run. It prints a line when it may be killed, and waits for that or for the end of the suite's
  * process.
  */
abstract class KilledDriver {
  import KilledDriver._

  /** Does what is to be done before the driver may be killed.
    *
    * @param root
    *   the folder of the run
    * @param others
    *   the arguments behind it
    */
  protected def run(stage: String, root: Path, others: Seq[String]): Unit

  final def main(arguments: Array[String]): Unit = {
    run(arguments(0), Paths.get(arguments(1)), arguments.toSeq.drop(2))
    println(Arrived)
    System.in.read()
    Runtime.getRuntime.halt(0)
  }

  /** Runs a stage in a process of its own, and kills that. */
  final def kill(stage: String, root: Path, others: String*): Unit = DriverProcess.killAt(
    Arrived,
    getClass.getName.stripSuffix("$"),
    root.resolve(s"$stage.log"),
    stage +: root.toString +: others: _*)
}

object KilledDriver {

  /** The queries run on Spark's provider to their end, and on Holdfast to the middle of a batch. */
  val ToBeKilled = "to-be-killed"

  /** The queries on Holdfast go on to their end, and all states are read. */
  val ToTheEnd = "to-the-end"

  private val Arrived = "arrived"

  private val LocalFiles = classOf[HoldfastCheckpointFileManager].getName

  def inputs(root: Path): Path = root.resolve("inputs")

  def session(settings: (String, String)*): SparkSession = SparkSession
    .builder()
    .config(settings.toMap)
    .master("local[2]")
    .config("spark.sql.adaptive.enabled", "false")
    .config(SQLConf.SESSION_LOCAL_TIMEZONE.key, "UTC")
    .config(SQLConf.SHUFFLE_PARTITIONS.key, QuerySession.Partitions)
    // Compiling takes longer than running for so few rows.
    .config(SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key, false)
    .config(SQLConf.CODEGEN_FACTORY_MODE.key, CodegenObjectFactoryMode.NO_CODEGEN.toString)
    .config(SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key, LocalFiles)
    .getOrCreate()

  /** Runs a query to the middle of a batch: returns when one partition of it has written its state, and
    * the batch waits.
    *
    * @param killedIn
    *   the batch
    * @param keep
    *   what is done with the rows of those before
    * @param start
    *   starts the query, given what is done with the rows of each
    */
  def toTheKill(killedIn: Long, keep: (Dataset[Row], Long) => Unit)(
      start: ((Dataset[Row], Long) => Unit) => Any): Unit = {
    val arrived = new CountDownLatch(1)
    start { (rows, batch) =>
      if (batch < killedIn) keep(rows, batch)
      else {
        rows.sparkSession.sparkContext.runJob(
          rows.queryExecution.toRdd,
          (_: Iterator[_]).foreach(_ => ()),
          Seq(0))
        arrived.countDown()
        new CountDownLatch(1).await()
      }
    }
    arrived.await()
  }
}

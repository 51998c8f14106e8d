package io.holdfast.bench

import java.nio.file.Path
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.FileUtil
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamingQueryProgress

import io.holdfast.HoldfastExtensions

/** How long a record takes in real-time mode, on Holdfast and on RocksDB with its changelog, which take
  * turns in one session. A turn of each comes first that is not counted: the first one of a JVM waits
  * for Spark to be compiled, whoever keeps the state.
  *
  * {{{
  * RealTime query=aggregation keys=100000 rate=200 batch=10 batches=6 turns=2
  * }}}
  *
  * Arguments: query (aggregation, deduplication, transformWithState), keys (in the state before),
  * rate (records a second), batch (its seconds), batches (of each turn, but for the first two), turns,
  * partitions. Prints for each provider the middle of the latencies, the hundredth longest of a hundred,
  * the longest of all, and the middle of what was the longest in a batch: records that come while one
  * batch ends and the next begins wait for that. Then it prints where batches spend their time.
  */
object RealTime {
  private val WarmUp = 2

  final private case class Turn(latencies: Seq[Array[Long]], batches: Seq[StreamingQueryProgress])

  def main(words: Array[String]): Unit = {
    val arguments = Arguments.of(words.toSeq)
    val peers = Seq(Peer.named("holdfast"), Peer.named("rocksdb"))
    val folder = Peer.workFolder()
    val spark = session(arguments, folder)
    try {
      val turns = for {
        turn <- 0 to arguments.int("turns", 2)
        peer <- if (turn % 2 == 0) peers else peers.reverse
        found = measured(spark, arguments, peer, folder.resolve(s"${peer.name}-$turn"))
        if turn > 0
      } yield peer.name -> found
      println(
        f"${"provider"}%-10s ${"records"}%10s ${"p50 ms"}%9s ${"p99 ms"}%9s " +
          f"${"longest"}%9s ${"longest of a batch"}%19s ${"batches"}%8s")
      def of(peer: Peer) = turns.filter(_._1 == peer.name).map(_._2)
      peers.foreach(peer => tell(peer.name, of(peer).flatMap(_.latencies)))
      println()
      tellEnds(peers.map(peer => peer.name -> of(peer).flatMap(_.batches)))
    } finally {
      spark.stop()
      val _ = FileUtil.fullyDelete(folder.toFile)
    }
    // Some providers leave threads behind.
    System.exit(0)
  }

  private def tell(name: String, batches: Seq[Array[Long]]): Unit = {
    val all = batches.toArray.flatten.sorted
    val longest = batches.filter(_.nonEmpty).map(_.max).sorted
    def at(share: Double) = millis(all(math.min(all.length - 1, (all.length * share).toInt)))
    println(
      f"$name%-10s ${all.length}%10d ${at(0.5)}%9.2f ${at(0.99)}%9.2f ${at(1.0)}%9.1f " +
        f"${millis(longest(longest.size / 2))}%19.1f ${longest.size}%8d")
  }

  // Where a batch spends its time besides waiting for records: the middle of each part, of all batches.
  private def tellEnds(peers: Seq[(String, Seq[StreamingQueryProgress])]): Unit = {
    val parts = peers.map(_._2.flatMap(partsOf).groupMap(_._1)(_._2))
    println(f"${"milliseconds"}%-32s ${peers.map(peer => f"${peer._1}%10s").mkString(" ")}")
    parts.flatMap(_.keys).distinct.sorted.foreach { part =>
      val middles =
        parts.map(_.get(part).fold("-")(all => f"${all.sorted.apply(all.size / 2)}%.1f"))
      println(f"$part%-32s ${middles.map(middle => f"$middle%10s").mkString(" ")}")
    }
  }

  private def partsOf(batch: StreamingQueryProgress): Seq[(String, Double)] =
    batch.durationMs.asScala.toSeq.map { case (part, time) => part -> time.doubleValue } ++
      batch.stateOperators.toSeq.flatMap { operator =>
        Seq(
          "store: commitTimeMs" -> operator.commitTimeMs.toDouble,
          "store: allRemovalsTimeMs" -> operator.allRemovalsTimeMs.toDouble) ++
          operator.customMetrics.asScala.collect {
            case (name, value) if name.contains("Ms") => s"store: $name" -> value.doubleValue
            case (name, value) if name.endsWith("Us") => s"store: $name" -> value / 1e3
          }
      }

  private def millis(nanos: Long): Double = nanos / 1e6

  private def measured(
      spark: SparkSession,
      arguments: Arguments,
      peer: Peer,
      checkpoint: Path): Turn = {
    val settings =
      if (peer.name == "holdfast") peer.settings
      else {
        peer.settings + (SQLConf.STATE_STORE_PROVIDER_CLASS.key -> peer.providerClass) +
          (SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> "2")
      }
    settings.foreach { case (name, value) => spark.conf.set(name, value) }
    try {
      val keys = arguments.long("keys")
      val query = new RealTimeQuery(spark, arguments.text("query"), keys, checkpoint)
      query.load()
      Collections.settle()
      val latencies = Latencies.begin()
      val seconds = arguments.long("batch")
      val batches = WarmUp + arguments.int("batches") + 1
      val told = query.run(
        TimeUnit.SECONDS.toMillis(seconds),
        arguments.int("rate"),
        TimeUnit.SECONDS.toNanos(seconds * batches))
      Turn(latencies.byBatch(WarmUp), told.sortBy(_.batchId).drop(WarmUp).dropRight(1))
    } finally settings.keys.foreach(spark.conf.unset)
  }

  // All tasks of a batch run at the same time.
  private def session(arguments: Arguments, folder: Path): SparkSession = {
    val partitions = arguments.int("partitions", 2)
    val spark = SparkSession
      .builder()
      .master(s"local[${partitions + 2}]")
      .config("spark.sql.extensions", classOf[HoldfastExtensions].getName)
      .config("spark.sql.streaming.stateStore.holdfast.realTimeMode", "true")
      .config("spark.sql.streaming.realTimeMode.allowlistCheck", "false")
      .config("spark.sql.streaming.realTimeMode.minBatchDuration", "1000")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", partitions.toString)
      .config("spark.sql.session.timeZone", "UTC")
      .config("spark.sql.streaming.checkpointFileManagerClass", Peer.FileManager)
      .config("spark.local.dir", folder.resolve("scratch").toString)
      .getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark
  }
}

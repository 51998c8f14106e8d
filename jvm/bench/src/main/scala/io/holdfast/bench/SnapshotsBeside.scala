package io.holdfast.bench

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.StreamingQueryProgress

/** What snapshots do to batches: an aggregation with a large state and small changes, in which
  * maintenance runs every second and Spark's coordinator takes a snapshot for late after ten seconds
  * and fifty versions. So two minutes are what two hours are at the defaults.
  *
  * Arguments: provider, rows, changes, batches, partitions, snapshots (`default`, or `never` for none but
  * those that Spark asks for), files (`holdfast` for Holdfast's file manager, `spark` for the default,
  * which starts some ten processes for each file on a local path).
  */
object SnapshotsBeside {

  def measure(arguments: Arguments): Numbers =
    RunningQuery.inSession(arguments, maintenance = "1s", fileManager(arguments)) {
      (spark, folder) =>
        val peer = TimedStateStoreProvider.of(arguments.peer)
        val query = new RunningQuery(
          spark,
          if (arguments.text("snapshots") == "never") peer.snapshotting(always = false) else peer,
          "aggregation",
          arguments.long("rows"),
          arguments.long("changes"),
          folder.resolve("query"))
        query.load()
        Collections.settle()
        WarmUp(seconds = 20) {
          val _ = query.batch()
        }
        val collections = new Collections
        val _ = TimedStateStoreProvider.takeCommitNanos()
        val batches = (1 to arguments.int("batches")).map { _ =>
          val progress = query.batch()
          (TimedStateStoreProvider.takeCommitNanos() / 1e6, progress)
        }
        numbers(batches.map(_._1).sorted, batches.map(_._2)) ++ collections.numbers
    }

  private def fileManager(arguments: Arguments): Option[String] = arguments.text("files") match {
    case "holdfast" => Some(Peer.FileManager)
    case "spark" => None
    case other =>
      throw new IllegalArgumentException(s"files=$other is neither files=holdfast nor files=spark")
  }

  private def numbers(commits: Seq[Double], batches: Seq[StreamingQueryProgress]): Numbers = {
    val median = commits(commits.size / 2)
    val triggers = batches.map(_.durationMs.get("triggerExecution").toDouble).sorted
    Seq(
      "commitMedianMillis" -> median,
      "commitP99Millis" -> commits(commits.size * 99 / 100),
      "commitMaxMillis" -> commits.last,
      "longestTimesMedian" -> commits.last / median,
      "batchMedianMillis" -> triggers(triggers.size / 2),
      "batchMaxMillis" -> triggers.last,
      "snapshots" -> (metric("SnapshotLastUploaded")(batches).distinct.size - 1.0),
      "forcedSnapshots" -> metric("orceSnapshotCount")(batches).sum)
  }

  // Names differ by provider and by partition.
  private def metric(part: String)(batches: Seq[StreamingQueryProgress]): Seq[Double] = for {
    batch <- batches
    operator <- batch.stateOperators.toSeq
    (name, value) <- operator.customMetrics.asScala
    if name.contains(part)
  } yield value.doubleValue
}

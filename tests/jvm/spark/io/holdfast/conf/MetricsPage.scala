package io.holdfast.conf

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCustomMetric,
  StateStoreCustomSizeMetric,
  StateStoreCustomTimingMetric
}

import io.holdfast.metrics.HoldfastMetrics

/** `docs/metrics.md`, which is written from the metrics themselves:
  * `sbt "spark_4_2/Test/runMain io.holdfast.conf.MetricsPage"`.
  */
object MetricsPage {

  val file: Path =
    Paths.get(sys.props("holdfast.tests")).resolveSibling("docs").resolve("metrics.md")

  val text: String = {
    val rows = HoldfastMetrics.custom.map { metric =>
      s"| `${metric.name}` | ${unit(metric)} | ${metric.desc.stripPrefix("Holdfast: ").stripSuffix(", us")} |\n"
    }
    s"""# Metrics
       |
       |What every store of Holdfast reports of a batch, summed over the partitions of its operator:
       |`stateOperators[].customMetrics` of a query's progress, the nodes of stateful operators in the
       |SQL tab of Spark's UI (by what is said here), `holdfast_spark.metrics.progress_metrics` in
       |Python (in snake case), and the Structured Streaming tab for those that
       |`spark.sql.streaming.ui.enabledCustomMetricList` names. Those that do not begin with
       |`holdfast` are the ones of Spark's default provider. What an operator reads for its update is
       |counted with it.
       |
       || metric | unit | |
       ||---|---|---|
       |""".stripMargin + rows.mkString
  }

  private def unit(metric: StateStoreCustomMetric): String = metric match {
    case _: StateStoreCustomSizeMetric => "bytes"
    case _: StateStoreCustomTimingMetric => "ms"
    case other if other.name.endsWith("Us") => "us"
    case _ => "count"
  }

  def main(arguments: Array[String]): Unit = {
    require(arguments.isEmpty, "MetricsPage takes no arguments")
    Files.writeString(file, text)
    ()
  }
}

package io.holdfast.conf

import java.nio.file.{Files, Path, Paths}

/** `docs/settings.md`, which is written from the settings themselves:
  * `sbt "spark_4_2/Test/runMain io.holdfast.conf.SettingsPage"`.
  */
object SettingsPage {

  val file: Path =
    Paths.get(sys.props("holdfast.tests")).resolveSibling("docs").resolve("settings.md")

  val text: String = {
    val rows = HoldfastConf.settings.map { setting =>
      s"| `${setting.name}` | `${setting.default}` | ${setting.meaning} |\n"
    }
    s"""# Settings
       |
       |All settings of Spark's default state store provider mean for Holdfast what they mean for it
       |(`spark.sql.streaming.stateStore.*`, `spark.sql.streaming.minBatchesToRetain`,
       |`spark.sql.streaming.maxBatchesToRetainInMemory`), with one exception: unless
       |`spark.sql.streaming.stateStore.minDeltasForSnapshot` is set, a snapshot is written when to replay
       |the deltas would take about as long as to load the snapshot before them.
       |
       |Holdfast's own, for all queries of a session:
       |
       || setting | default | |
       ||---|---|---|
       |""".stripMargin + rows.mkString
  }

  def main(arguments: Array[String]): Unit = {
    require(arguments.isEmpty, "SettingsPage takes no arguments")
    Files.writeString(file, text)
    ()
  }
}

// The module graph. Spark's versions: project/spark-lines.json. Flags and test set-up: project/Settings.scala.

ThisBuild / organization := "io.holdfast"
ThisBuild / organizationName := "Holdfast"
ThisBuild / version := ProjectVersion.read((ThisBuild / baseDirectory).value)
ThisBuild / description := "A state store for Spark Structured Streaming"
ThisBuild / licenses := Seq(License.Apache2)
ThisBuild / versionScheme := Some("early-semver")
Publishing.build
Settings.testsAtOnce
Global / onChangedBuildSource := ReloadOnSourceChanges
// How `./dev`, which writes commands to a running sbt, learns what has been done.
commands += Command.args("answer", "<words>") { (state, words) =>
  println(words.mkString("[answer] ", " ", ""))
  state
}

val jars = taskKey[Seq[File]]("Writes the jars of all Spark lines to target/jars.")

// The engine: JDK and Scala library only. Not published: every line's jar carries its classes.
lazy val core = (project in file("jvm/core"))
  .settings(Settings.module, Settings.core(SparkLines.all.last), Settings.unpublished)

// The same sources for older Javas and Scalas (core_3_5_scala_2_12, ...).
lazy val olderCores = CoreProjects(
  SparkLines.all.filterNot(_.hasCoreOf(SparkLines.all.last)).map { line =>
    val id = line.projectId.replace("spark_", "core_")
    line -> Project(id, file(s"jvm/core/target/$id"))
      .settings(Settings.module, Settings.core(line), Settings.unpublished)
  })

// One project per Spark line (spark_4_2, ...): the shared sources and the line's overlay folders.
lazy val spark = LineProjects(SparkLines.all.map { line =>
  val engine = olderCores(line).getOrElse(core)
  line -> Project(line.projectId, file(s"jvm/spark/target/${line.folder}"))
    .dependsOn(engine % "compile->compile;test->test")
    .settings(
      Settings.module,
      Settings.sparkLine(line),
      Settings.packWith(engine),
      Publishing.line(engine))
})

// Benchmarks, on the line that SparkLines.benchmarked names.
lazy val bench = (project in file("jvm/bench"))
  .enablePlugins(JmhPlugin)
  .dependsOn(spark(SparkLines.benchmarked))
  .settings(Settings.module, Settings.bench(SparkLines.benchmarked), Settings.unpublished)

// The simulator, on the newest line.
lazy val sim = (project in file("jvm/sim"))
  .dependsOn(spark(SparkLines.all.last))
  .settings(Settings.module, Settings.sim(SparkLines.all.last), Settings.unpublished)

// Inputs for what reads files, drawn by Jazzer, on the newest line.
lazy val fuzz = (project in file("jvm/fuzz"))
  .dependsOn(spark(SparkLines.all.last))
  .settings(Settings.module, Settings.fuzz(SparkLines.all.last), Settings.unpublished)

// What threads do to each other, on the newest line.
lazy val races = (project in file("jvm/races"))
  .dependsOn(spark(SparkLines.all.last))
  .settings(Settings.module, Settings.races(SparkLines.all.last), Settings.unpublished)

lazy val root = (project in file("."))
  .aggregate(
    (core +: bench +: sim +: fuzz +: races +: (olderCores.componentProjects ++ spark.componentProjects))
      .map(_.project): _*)
  .settings(
    Settings.unpublished,
    jars := {
      val folder = target.value / "jars"
      IO.delete(folder)
      spark.componentProjects.map(_ / Compile / packageBin).join.value.map { jar =>
        IO.copyFile(jar, folder / jar.getName)
        folder / jar.getName
      }
    },
    jars / aggregate := false)

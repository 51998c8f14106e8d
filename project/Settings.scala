import scala.xml.Node
import scala.xml.transform.{RewriteRule, RuleTransformer}

import org.scalafmt.sbt.ScalafmtPlugin.autoImport.scalafmt
import pl.project13.scala.sbt.JmhPlugin.JmhKeys.Jmh
import sbt.Keys._
import sbt._

/** Compiler flags, source folders and test set-up of the modules. */
object Settings {

  // What is no line's, such as the benchmarks, is for the newest one's Java.
  private val javaRelease = SparkLines.all.last.java
  private val scalaTestVersion = "3.2.20"
  private val scalaCheckVersion = "1.19.0"
  private val lincheckVersion = "3.7"
  private val jcstressVersion = "0.16"
  private val jazzerVersion = "0.30.0"

  private def scalacFlags(scala: String, java: String) =
    Seq(
      "-encoding",
      "utf-8",
      "-release",
      java,
      "-deprecation",
      "-feature",
      "-unchecked",
      "-explaintypes",
      "-Xlint") ++ (if (scala.startsWith("2.12."))
                      // What Scala 2.13 no longer takes for a mistake, or takes for one no more.
                      Seq(
                        "-Xlint:-adapted-args,-unsound-match",
                        "-Ywarn-dead-code",
                        "-Ywarn-unused:imports,privates,locals,patvars",
                        "-Xfatal-warnings")
                    else Seq("-Wdead-code", "-Wunused", "-Wvalue-discard", "-Werror"))

  private def javacFlags(java: String) =
    Seq("-encoding", "utf-8", "--release", java, "-Xlint:all,-options", "-Werror")

  /** The Java that runs the tests, `./dev test --java`; that of sbt for none. */
  private val testedJava = sys.props.get("tests.java").map(file)

  private val root = LocalRootProject / baseDirectory

  /** Where tests put their files: emptied before each run, kept after it. In a folder of `./dev test`
    * if it has one for them.
    */
  private val temporaryFolder = Def.setting {
    sys.env.get("HOLDFAST_TEST_FILES").fold(target.value / "tmp")(file(_) / thisProject.value.id)
  }

  /** What every module shares. */
  val module: Seq[Setting[_]] = Seq(
    scalaVersion := SparkLines.all.last.scala,
    scalacOptions := scalacFlags(scalaVersion.value, javaRelease),
    Compile / doc / javacOptions := Nil,
    javacOptions := javacFlags(javaRelease),
    autoScalaLibrary := false,
    libraryDependencies ++= Seq(
      "org.scala-lang" % "scala-library" % scalaVersion.value % Provided,
      "org.scalatest" %% "scalatest" % scalaTestVersion % Test,
      "org.scalacheck" %% "scalacheck" % scalaCheckVersion % Test),
    testFrameworks := Seq(TestFrameworks.ScalaTest),
    Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oD"),
    Test / fork := true,
    Test / javaHome := testedJava,
    Test / javaOptions ++= Seq(
      "-Xmx3g",
      "-ea",
      "-XX:+UseSerialGC",
      s"-Djava.io.tmpdir=${temporaryFolder.value}",
      s"-Dholdfast.tests=${root.value / "tests"}"),
    Test / testOptions += {
      val folder = temporaryFolder.value
      Tests.Setup { () =>
        IO.delete(folder)
        IO.createDirectory(folder)
      }
    },
    Test / unmanagedResourceDirectories :=
      (Test / unmanagedSourceDirectories).value.map(_ / "resources"))

  /** The engine as a line needs it: for its Scala and its Java. What Java 8 has not is in folders for
    * one and the other, and is tested for each; the rest of the tests are for the newest line. Test
    * helpers that need no Spark lie beside them; the lines see them as well.
    */
  def core(line: SparkLine): Seq[Setting[_]] = forLine(line) ++ Seq(
    Compile / unmanagedSourceDirectories := {
      val sources = root.value / "jvm" / "core" / "src" / "main"
      Seq(sources / "scala", sources / "java", sources / s"java-${javaOfSources(line)}")
    },
    libraryDependencies ++= (if (javaOfSources(line) == 8)
                               Seq("org.apache.spark" %% "spark-unsafe" % line.spark % Provided)
                             else Nil),
    Test / unmanagedSourceDirectories :=
      (if (SparkLines.isTestedWhole(line)) testFolders("core", "java", "testkit")
       else testFolders("java")).value,
    besideSpark) ++
    (if (line == SparkLines.all.last) Nil
     else Seq(Compile, Test).map(sources => sources / scalafmt / unmanagedSources := Nil))

  /** The folders of the engine for some Java on, of which a line has the newest that it may. */
  private val javaSources = Seq(8, 17)

  private def javaOfSources(line: SparkLine): Int = javaSources.filter(_ <= line.java.toInt).max

  // The tests of this project are for newer Javas than 8; Spark's suite and the few that are about what
  // Java 8 lacks run there too.
  private def forLine(line: SparkLine): Seq[Setting[_]] = Seq(
    scalaVersion := line.scala,
    scalacOptions := scalacFlags(line.scala, line.java),
    javacOptions := javacFlags(line.java),
    Test / scalacOptions := scalacFlags(line.scala, oldestTestedJava(line)),
    Test / javacOptions := javacFlags(oldestTestedJava(line)))

  private def oldestTestedJava(line: SparkLine): String =
    if (line.java == "8" && SparkLines.isTestedWhole(line)) "11" else line.java

  /** A line's sources, its Spark, and its artifact. */
  def sparkLine(line: SparkLine): Seq[Setting[_]] = forLine(line) ++ sparkOn(line, Provided) ++ Seq(
    name := s"Holdfast for Spark ${line.line}",
    moduleName := line.moduleName,
    pomPostProcess := withoutTestDependencies,
    target := baseDirectory.value,
    // What one line needs to know of a call another may not.
    scalacOptions += "-Wconf:src=/scala-[^/]*/.*&cat=unused-params:s",
    Compile / unmanagedSourceDirectories := lineSources(root.value, line),
    formatted(Compile, line, lineSources),
    formatted(Test, line, lineTests),
    Compile / unmanagedResourceDirectories :=
      Seq(root.value / "jvm" / "spark" / "src" / "main" / "resources"),
    Test / unmanagedSourceDirectories := lineTests(root.value, line),
    Test / javaOptions ++= sparkJavaOptions ++
      Seq("-Dspark.testing=1", "-Dspark.ui.enabled=false") ++ firstCompilerAlone,
    // A search goes on for long.
    Test / run / javaOptions := (Test / javaOptions).value.diff(firstCompilerAlone),
    Test / testOptions ++= (if (SparkLines.runsSlowTests(line)) Nil
                            else without("org.scalatest.tags.Slow")),
    Test / testOptions ++= (if (SparkLines.full) Nil else without("io.holdfast.testkit.FullOnly")),
    Test / envVars += "SPARK_LOCAL_IP" -> "127.0.0.1",
    Test / run / outputStrategy := Some(StdoutOutput),
    libraryDependencies ++= (if (line.jars == MavenJars) sparkTests(line) else Nil),
    Compile / resourceGenerators += buildProperties(line).taskValue,
    // A developer publishes the same version again and again, to the repository of the machine.
    publishM2Configuration := publishM2Configuration.value.withOverwrite(true))

  /** For queries of seconds: what the second compiler makes of them takes longer than it saves. Most of
    * Spark would be interpreted unless the first one begins early, and it needs more room than it has by
    * itself. An old Java may not know how to begin early.
    */
  private val firstCompilerAlone = Seq(
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:CompileThresholdScaling=0.4")

  private val BesideSpark = Tags.Tag("tests beside those of Spark lines")

  /** Tests of Spark lines run in one JVM at a time, and those that need no session in another. */
  val testsAtOnce: Setting[_] = Global / concurrentRestrictions += Tags.limit(BesideSpark, 1)

  private val besideSpark = Test / testGrouping ~= (_.map(_.withTags(Seq(BesideSpark -> 1))))

  private def without(tag: String) =
    Seq(Tests.Argument(TestFrameworks.ScalaTest, "-l", tag))

  /** Puts the classes and sources of `other` into this project's jars, instead of a dependency. */
  def packWith(other: Project): Seq[Setting[_]] = Seq(
    projectDependencies := Nil,
    Compile / packageBin / mappings ++= (other / Compile / packageBin / mappings).value,
    Compile / packageBin / mappings += (root.value / "LICENSE") -> "META-INF/LICENSE",
    Compile / packageSrc / mappings ++= (other / Compile / packageSrc / mappings).value)

  def bench(line: SparkLine): Seq[Setting[_]] = sparkOn(line, Compile) ++ Seq(
    scalaVersion := line.scala,
    // Real-time mode, which is there since Spark 4.3: `-Dbench.line=4.3`.
    Compile / unmanagedSourceDirectories ++=
      (if (line == SparkLines.all.last) Seq(realTimeBenchmarks.value) else Nil),
    Compile / scalafmt / unmanagedSources := ((Compile / unmanagedSources).value ++
      (realTimeBenchmarks.value ** "*.scala").get()).distinct,
    // Its Java is what JMH generates, which does not keep our rules.
    javacOptions := Seq("-encoding", "utf-8", "--release", javaRelease),
    Jmh / javaOptions := benchmarkJavaOptions.value,
    // What `java` is started with for a benchmark that JMH does not run: java @<this file> ...
    javaArguments := {
      val file = target.value / "java-arguments"
      val classes = (Runtime / fullClasspath).value.files.mkString(java.io.File.pathSeparator)
      IO.writeLines(file, benchmarkJavaOptions.value ++ Seq("-cp", "\"" + classes + "\""))
      file
    })

  /** The simulator, and its tests. One thread does all, and much of it is short-lived. */
  def sim(line: SparkLine): Seq[Setting[_]] = forLine(line) ++ sparkOn(line, Compile) ++ Seq(
    Test / unmanagedSourceDirectories := testFolders("sim").value,
    Test / javaOptions ++= simJavaOptions,
    besideSpark,
    run / javaOptions ++= "-Xmx2g" +: "-ea" +: simJavaOptions) ++ runAlone

  /** What a command of `./dev` runs, in a process of its own whose output is the command's. */
  private lazy val runAlone: Seq[Setting[_]] =
    Seq(run / fork := true, run / connectInput := false, run / outputStrategy := Some(StdoutOutput))

  // Spark's lzf writes in threads of its own, where nobody decides what happens next.
  private lazy val simJavaOptions =
    sparkJavaOptions ++ Seq(
      "-XX:+UseSerialGC",
      // What a history makes is short-lived: it stays in the caches of a processor.
      "-Xmn16m",
      "-Dspark.io.compression.lzf.parallel.enabled=false")

  /** What draws inputs, and its tests; it starts Jazzer in processes of its own. */
  def fuzz(line: SparkLine): Seq[Setting[_]] = forLine(line) ++ sparkOn(line, Compile) ++ Seq(
    libraryDependencies += "com.code-intelligence" % "jazzer" % jazzerVersion,
    Test / unmanagedSourceDirectories := testFolders("fuzz").value,
    Test / javaOptions ++= sparkJavaOptions,
    besideSpark,
    run / javaOptions ++= sparkJavaOptions ++
      Seq("-ea", s"-Dholdfast.tests=${root.value / "tests"}")) ++ runAlone

  /** What threads do to each other: tests of the memory model for jcstress, which makes more Java of
    * them, and tests in which Lincheck decides who goes on.
    */
  def races(line: SparkLine): Seq[Setting[_]] = forLine(line) ++ sparkOn(line, Compile) ++ Seq(
    // The Java that jcstress generates does not keep our rules.
    javacOptions := Seq("-encoding", "utf-8", "--release", line.java),
    libraryDependencies ++= Seq(
      "org.openjdk.jcstress" % "jcstress-core" % jcstressVersion,
      "org.jetbrains.lincheck" % "lincheck" % lincheckVersion % Test),
    // Its list of tests has those that were compiled last.
    Compile / incOptions ~= (_.withRecompileAllFraction(0.0)),
    Test / unmanagedSourceDirectories := testFolders("races").value,
    // What an operation returns does not follow from all that it is given.
    Test / scalacOptions += "-Wconf:cat=unused-params:s",
    Test / javaOptions ++= sparkJavaOptions ++
      sys.props.get("races.minutes").map(minutes => s"-Draces.minutes=$minutes"),
    // What one compiles the other changes: a JVM for each.
    Test / testGrouping := {
      val forked = (Test / forkOptions).value
      val options = forked.runJVMOptions
      (Test / definedTests).value.map { suite =>
        val own = if (suite.name.endsWith("LincheckSuite")) lincheckJavaOptions else Nil
        Tests.Group(
          suite.name,
          Seq(suite),
          Tests.SubProcess(forked.withRunJVMOptions(options ++ own)))
      }
    },
    besideSpark)

  // Lincheck changes classes as they are used, and those of the JDK too. Compiling what it has made of
  // them well takes longer than running it.
  private lazy val lincheckJavaOptions = firstCompilerAlone ++ Seq(
    "-Djdk.attach.allowAttachSelf=true",
    "-XX:+EnableDynamicAgentLoading",
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.util=ALL-UNNAMED",
    "--add-exports=java.base/sun.security.action=ALL-UNNAMED")

  private val javaArguments =
    taskKey[File]("Write the options and the class path of benchmarks to a file for java")

  private val realTimeBenchmarks =
    Def.setting((Compile / sourceDirectory).value / "scala-since-4.3")

  private val benchmarkJavaOptions = Def.setting(
    sparkJavaOptions :+ s"-Dlog4j2.configurationFile=${root.value / "conf" / "log4j2.properties"}")

  val unpublished: Seq[Setting[_]] = Seq(publish / skip := true)

  private def lineSources(root: File, line: SparkLine): Seq[File] = {
    val sources = root / "jvm" / "spark" / "src" / "main"
    (sources / "scala") +: Overlays.of(sources, "scala-", line.line)
  }

  /** What lines share is formatted with the newest of them alone. */
  private def formatted(
      sources: Configuration,
      line: SparkLine,
      folders: (File, SparkLine) => Seq[File]): Setting[_] =
    sources / scalafmt / unmanagedSources := {
      val newer = SparkLines.all.dropWhile(_ != line).tail.flatMap(folders(root.value, _))
      val own = folders(root.value, line).diff(newer)
      (sources / unmanagedSources).value.filter(file =>
        own.exists(folder => file.relativeTo(folder).isDefined))
    }

  /** Spark's own suite for providers, which needs artifacts that a wheel has not, and the tests of this
    * project. The older lines have these only when all is tested.
    */
  private def lineTests(root: File, line: SparkLine): Seq[File] = {
    val tests = root / "tests" / "jvm"
    def of(name: String) = (tests / name) +: Overlays.of(tests, s"$name-", line.line)
    val contract = if (line.jars == MavenJars) of("contract") else Nil
    contract ++ (if (SparkLines.isTestedWhole(line)) of("spark") else Nil)
  }

  private def testFolders(names: String*): Def.Initialize[Seq[File]] =
    Def.setting(names.map(root.value / "tests" / "jvm" / _))

  /** `holdfast.properties` in the jar: what the jar was built for. */
  private def buildProperties(line: SparkLine): Def.Initialize[Task[Seq[File]]] = Def.task {
    val properties = (Compile / resourceManaged).value / "io" / "holdfast" / "holdfast.properties"
    IO.writeLines(
      properties,
      Seq(
        s"version=${version.value}",
        s"sparkLine=${line.line}",
        s"sparkVersion=${line.spark}",
        s"oldestSpark=${line.oldest}",
        s"scalaVersion=${line.scala}"))
    Seq(properties)
  }

  private val withoutTestDependencies = (pom: Node) =>
    new RuleTransformer(new RewriteRule {
      override def transform(node: Node): Seq[Node] =
        if (node.label == "dependency" && (node \ "scope").text == "test") Nil else node
    })(pom)

  /** Spark on the classpath, from where the line takes it. */
  private def sparkOn(line: SparkLine, scope: Configuration): Seq[Setting[_]] = line.jars match {
    case MavenJars =>
      Seq(libraryDependencies += "org.apache.spark" %% "spark-sql" % line.spark % scope)
    case PysparkJars =>
      Seq(Compile / unmanagedJars ++= pysparkJars(root.value, line))
  }

  private def pysparkJars(root: File, line: SparkLine): Classpath = {
    val venv = root / ".dev" / "venv" / s"spark-${line.line}"
    val jars = (venv / "lib" * "python3*" / "site-packages" / "pyspark" / "jars" * "*.jar").get
    if (jars.isEmpty) {
      throw new MessageOnlyException(
        s"Spark line ${line.line} takes Spark from the pyspark wheel; none in $venv. Run ./dev build.")
    }
    jars.sorted.classpath
  }

  /** Spark's published tests, among them the suite that every state store provider should pass. */
  private def sparkTests(line: SparkLine): Seq[ModuleID] =
    Seq(
      "spark-sql",
      "spark-catalyst",
      "spark-core",
      "spark-sql-api",
      "spark-common-utils",
      "spark-tags")
      .map("org.apache.spark" %% _ % line.spark % Test classifier "tests") ++ Seq(
      "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test,
      "org.scalatestplus" %% "mockito-5-12" % "3.2.19.0" % Test,
      "org.mockito" % "mockito-core" % "5.12.0" % Test,
      "junit" % "junit" % "4.13.2" % Test)

  /** What Spark's launcher passes to Java (`org.apache.spark.launcher.JavaModuleOptions`), of which
    * Java 8 knows nothing.
    */
  private val sparkJavaOptions: Seq[String] = "-XX:+IgnoreUnrecognizedVMOptions" +: Seq(
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5").map(opened => s"--add-opens=$opened=ALL-UNNAMED") :+
    "-Dio.netty.tryReflectionSetAccessible=true"
}

import sbt._
import sjsonnew.BasicJsonProtocol._
import sjsonnew.support.scalajson.unsafe.{Converter, Parser}

/** A Spark line: one minor release of Spark, for which one jar is built.
  *
  * @param line name of the line, as in artifact and folder names: `4.2`
  * @param spark version of Spark that the line is compiled and tested with
  * @param scala version of Scala that this Spark was built with
  * @param jars where Spark's jars come from
  * @param oldest the first release of the line that has the interface that the jar is compiled with
  * @param java the oldest Java that this Spark runs on, for which class files are made
  */
final case class SparkLine(
    line: String,
    spark: String,
    scala: String,
    jars: SparkJars,
    oldest: String,
    java: String) {

  /** `spark_4_2`; where a line has several Scalas, `spark_3_5_scala_2_12`. */
  def projectId: String = {
    val several = SparkLines.all.count(_.line == line) > 1
    val id = s"spark_$line" + (if (several) s"_scala_$scalaLine" else "")
    id.replace('.', '_')
  }

  /** `4.2`, or `3.5-2.12`. */
  def folder: String = projectId.stripPrefix("spark_").replace("_scala_", "-").replace('_', '.')

  /** Whether the classes of the engine are the same for another line: for its Scala and its Java. */
  def hasCoreOf(other: SparkLine): Boolean = scalaLine == other.scalaLine && java == other.java

  def scalaLine: String = scala.split('.').take(2).mkString(".")
  def moduleName: String = s"holdfast-spark_$line"
}

sealed trait SparkJars

/** Spark's artifacts in a Maven repository. */
case object MavenJars extends SparkJars

/** The jars inside the pyspark wheel: some Spark versions are published nowhere else. */
case object PysparkJars extends SparkJars

/** The lines of `project/spark-lines.json`, in its order: oldest Spark first. */
object SparkLines {

  private val source = file("project/spark-lines.json")

  val all: Seq[SparkLine] =
    Converter
      .fromJsonUnsafe[List[Map[String, String]]](Parser.parseFromFile(source).get)
      .map { entry =>
        def field(name: String): String =
          entry.getOrElse(name, sys.error(s"$source: the entry $entry has no field '$name'."))
        val jars = field("jars") match {
          case "maven" => MavenJars
          case "pyspark" => PysparkJars
          case other => sys.error(s"$source: 'jars' is maven or pyspark, found '$other'.")
        }
        SparkLine(
          field("line"),
          field("spark"),
          field("scala"),
          jars,
          field("oldest"),
          field("java"))
      }

  /** The two newest lines, which are tested whole. The others have the suite that Spark publishes for
    * providers and the main job, and with `-Dtests.full=true` everything, on the Scala that the tests
    * are written in.
    */
  def isTestedWhole(line: SparkLine): Boolean =
    all.takeRight(2).contains(line) || full && line.scalaLine == all.last.scalaLine

  /** Tests that take minutes run on the newest line, and with `-Dtests.full=true` on each. */
  def runsSlowTests(line: SparkLine): Boolean = line == all.last || full

  /** Whether all tests run, on each line (`./dev test --full`). */
  def full: Boolean = sys.props.get("tests.full").contains("true")

  /** The line that benchmarks run on: the older of the two newest, or the one that
    * `-Dbench.line=4.3` names.
    */
  val benchmarked: SparkLine = sys.props.get("bench.line") match {
    case None => all.takeRight(2).head
    case Some(name) =>
      all.find(_.line == name).getOrElse(sys.error(s"bench.line: no line '$name' in $source."))
  }
}

/** The projects of all lines, for sbt to find as one definition. */
final case class LineProjects(byLine: Seq[(SparkLine, Project)]) extends CompositeProject {
  def componentProjects: Seq[Project] = byLine.map(_._2)
  def apply(line: SparkLine): Project = byLine.toMap.apply(line)
}

/** The engine once more, for each Scala and Java that a line needs and the first one is not for. */
final case class CoreProjects(byLine: Seq[(SparkLine, Project)]) extends CompositeProject {
  def componentProjects: Seq[Project] = byLine.map(_._2)
  def apply(line: SparkLine): Option[Project] = byLine.toMap.get(line)
}

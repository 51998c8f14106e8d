package io.holdfast.session

import java.net.URL
import java.util.Properties

import scala.jdk.CollectionConverters._
import scala.util.Using

/** What a jar was built as and for, from the file that the build puts into it.
  *
  * @param version
  *   version of Holdfast
  * @param sparkLine
  *   the Spark line, such as "4.2", that the jar fits
  */
final case class BuildInfo(version: String, sparkLine: String)

object BuildInfo {
  private[session] val File = "io/holdfast/holdfast.properties"

  /** This jar's. Any thread may call. */
  lazy val current: BuildInfo = of(classOf[BuildInfo].getResource(s"/$File"))

  private[session] def of(file: URL): BuildInfo = {
    val properties = new Properties
    Using.resource(file.openStream())(properties.load(_))
    BuildInfo(properties.getProperty("version"), properties.getProperty("sparkLine"))
  }

  /** What is wrong when a jar built for one Spark line runs on a Spark version, or nothing.
    *
    * @param onClassPath
    *   all jars of Holdfast on the class path, the one in use first
    */
  def mismatch(
      build: BuildInfo,
      sparkVersion: String,
      onClassPath: Seq[FoundJar] = Nil): Option[String] = {
    val running = sparkVersion.split('.').take(2).mkString(".")
    Option.when(running != build.sparkLine) {
      val what =
        s"This Holdfast ${build.version} jar is built for Spark ${build.sparkLine} and this is Spark " +
          s"$sparkVersion, whose state store interface differs"
      val first = onClassPath.find(_.build == build)
      val fitting = onClassPath.find(_.build.sparkLine == running)
      (first, fitting) match {
        case (Some(first), Some(fitting)) =>
          s"$what. The jar that fits is on the class path too (${fitting.location}), behind it: " +
            s"remove ${first.location}"
        case _ =>
          s"$what. Use io.holdfast:holdfast-spark_${running}_2.13:${build.version}, or let the " +
            "Python package choose: holdfast.configure(builder)"
      }
    }
  }
}

/** A jar of Holdfast on the class path.
  *
  * @param location
  *   its path or URL
  */
final case class FoundJar(location: String, build: BuildInfo)

object FoundJar {

  /** In the order in which their classes are found. */
  def onClassPath: Seq[FoundJar] =
    classOf[FoundJar].getClassLoader
      .getResources(BuildInfo.File)
      .asScala
      .map { file =>
        val location = file.toString.stripSuffix(BuildInfo.File).stripPrefix("jar:")
        FoundJar(
          location.stripSuffix("/").stripSuffix("!").stripPrefix("file:"),
          BuildInfo.of(file))
      }
      .toSeq
}

package io.holdfast.session

import java.net.URL
import java.util.{Collections, Properties}

import scala.util.Properties.versionNumberString

import io.holdfast.file.Closing

/** What a jar was built as and for, from the file that the build puts into it.
  *
  * @param version
  *   version of Holdfast
  * @param sparkLine
  *   the Spark line, such as "4.2", that the jar fits
  * @param oldestSpark
  *   the first release of the line that it fits
  */
final case class BuildInfo(version: String, sparkLine: String, oldestSpark: String)

object BuildInfo {
  private[session] val File = "io/holdfast/holdfast.properties"

  /** This jar's. Any thread may call. */
  lazy val current: BuildInfo = of(classOf[BuildInfo].getResource(s"/$File"))

  private[session] def of(file: URL): BuildInfo = {
    val properties = new Properties
    Closing.after(file.openStream())(properties.load(_))
    BuildInfo(
      properties.getProperty("version"),
      properties.getProperty("sparkLine"),
      properties.getProperty("oldestSpark"))
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
    if (running == build.sparkLine) tooOld(build, sparkVersion)
    else Some(ofAnotherLine(build, sparkVersion, running, onClassPath))
  }

  private def ofAnotherLine(
      build: BuildInfo,
      sparkVersion: String,
      running: String,
      onClassPath: Seq[FoundJar]): String = {
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
        s"$what. Use io.holdfast:holdfast-spark_${running}_$scalaLine:${build.version}, or let the " +
          "Python package choose: holdfast.configure(builder)"
    }
  }

  // Spark changed the interface within a line once: 4.0.0 has not what 4.0.1 has.
  private def tooOld(build: BuildInfo, sparkVersion: String): Option[String] =
    if (release(sparkVersion) >= release(build.oldestSpark)) None
    else {
      Some(
        s"This Holdfast ${build.version} jar is built for Spark ${build.oldestSpark} and newer ones " +
          s"of its line and this is Spark $sparkVersion, whose state store interface differs. Use " +
          s"Spark ${build.oldestSpark} or newer")
    }

  // What follows the third number is a vendor's own, or says that the version is not yet one.
  private def release(version: String): Int =
    Release.findFirstMatchIn(version).fold(0)(_.group(1).toInt)

  private val Release = """^\d+\.\d+\.(\d+)""".r

  private def scalaLine: String = versionNumberString.split('.').take(2).mkString(".")
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
    Collections
      .list(classOf[FoundJar].getClassLoader.getResources(BuildInfo.File))
      .toArray(Array.empty[URL])
      .toSeq
      .map { file =>
        val location = file.toString.stripSuffix(BuildInfo.File).stripPrefix("jar:")
        FoundJar(
          location.stripSuffix("/").stripSuffix("!").stripPrefix("file:"),
          BuildInfo.of(file))
      }
}

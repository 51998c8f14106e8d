package io.holdfast.session

import java.util.Properties

/** What the jar was built as and for, from the file that the build puts into it.
  *
  * @param version
  *   version of Holdfast
  * @param sparkLine
  *   the Spark line, such as "4.2", that the jar fits
  */
final case class BuildInfo(version: String, sparkLine: String)

object BuildInfo {

  /** This jar's. Any thread may call. */
  lazy val current: BuildInfo = {
    val properties = new Properties
    val stream = classOf[BuildInfo].getResourceAsStream("/io/holdfast/holdfast.properties")
    try properties.load(stream)
    finally stream.close()
    BuildInfo(properties.getProperty("version"), properties.getProperty("sparkLine"))
  }

  /** What is wrong when a jar built for one Spark line runs on a Spark version, or nothing. */
  def mismatch(build: BuildInfo, sparkVersion: String): Option[String] = {
    val running = sparkVersion.split('.').take(2).mkString(".")
    Option.when(running != build.sparkLine)(
      s"This Holdfast ${build.version} jar is built for Spark ${build.sparkLine} and this is Spark " +
        s"$sparkVersion, whose state store interface differs. Use " +
        s"io.holdfast:holdfast-spark_${running}_2.13:${build.version}, or let the Python package " +
        "choose: holdfast.configure(builder)")
  }
}

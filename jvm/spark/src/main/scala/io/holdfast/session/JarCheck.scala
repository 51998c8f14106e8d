package io.holdfast.session

import org.apache.spark.SPARK_VERSION
import org.apache.spark.internal.Logging

/** Whether the jar is one for the Spark that runs here. Any thread may call. */
private[holdfast] object JarCheck extends Logging {

  /** @throws java.lang.IllegalStateException
    *   if the running Spark is not the jar's
    */
  def check(): Unit = mismatch.foreach(sentence => throw new IllegalStateException(sentence))

  /** The same while a class is loaded, where nothing else keeps its message.
    *
    * @throws java.lang.LinkageError
    *   if the running Spark is not the jar's
    */
  def link(): Unit = mismatch.foreach(sentence => throw new LinkageError(sentence))

  /** Says in the log when the class path has jars of several builds. */
  def warnOfOthers(): Unit = {
    val jars = FoundJar.onClassPath
    if (jars.map(_.build).distinct.size > 1) {
      logWarning(
        s"The class path has ${jars.size} jars of Holdfast, and the first is used: " +
          s"${jars.map(_.location).mkString(", ")}. Remove the others")
    }
  }

  private def mismatch: Option[String] =
    BuildInfo.mismatch(BuildInfo.current, SPARK_VERSION, FoundJar.onClassPath)
}

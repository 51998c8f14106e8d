package io.holdfast.bench

import org.json4s.JsonAST.{JDouble, JObject}
import org.json4s.jackson.JsonMethods.{compact, render}

/** Runs one measurement that JMH does not fit and prints its numbers as a line of JSON.
  *
  * {{{
  * Measure batches provider=holdfast kind=small rows=1000000 changes=1000 batches=200
  * }}}
  */
object Measure {

  /** What the line begins with; providers and Spark print others. */
  val Mark = "measured "

  private val measurements: Map[String, Arguments => Numbers] = Map(
    "operations" -> (Operations.measure(_)),
    "familyOperations" -> (FamilyOperations.measure(_)),
    "sparkWorkload" -> (SparkWorkload.measure(_)),
    "batches" -> (Batches.measure(_)),
    "recovery" -> (Recovery.measure(_)),
    "footprint" -> (Footprint.measure(_)),
    "steady" -> (Steady.measure(_)),
    "walks" -> (Walks.measure(_)),
    "evictions" -> (Evictions.measure(_)),
    "commits" -> (Commits.measure(_)),
    "snapshotsBeside" -> (SnapshotsBeside.measure(_)),
    "querySizes" -> (QuerySizes.measure(_)),
    "idleJoins" -> (IdleJoins.measure(_)))

  def main(words: Array[String]): Unit = {
    val measure = words.headOption.flatMap(measurements.get).getOrElse {
      throw new IllegalArgumentException(
        s"the first word names a measurement: ${measurements.keys.toSeq.sorted.mkString(", ")}")
    }
    val numbers = measure(Arguments.of(words.toSeq.tail))
    println(Mark + compact(render(JObject(numbers.map { case (name, value) =>
      name -> JDouble(value)
    }.toList))))
    // Some providers leave threads behind.
    System.exit(0)
  }
}

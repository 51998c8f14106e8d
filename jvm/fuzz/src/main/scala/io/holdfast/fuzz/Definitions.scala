package io.holdfast.fuzz

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.SparkThrowable

import io.holdfast.table.Family

/** What a file says of a column family: in a line each, how its keys are encoded, and the schemas of its
  * keys and values. It is understood, or refused in a sentence.
  */
object Definitions extends Target {

  override def seeds: Seq[Array[Byte]] = Families.defined
    .map(family => Seq(family.keyEncoder, family.keySchema, family.valueSchema))
    .distinct
    .map(_.mkString("\n").getBytes(UTF_8))

  override def read(encoded: Array[Byte]): Boolean = {
    val lines = new String(encoded, UTF_8).split("\n", 3).padTo(3, "")
    val family = Family(
      1,
      "one",
      isInternal = false,
      hasManyValues = false,
      keyEncoder = lines(0),
      keySchema = lines(1),
      valueSchema = lines(2))
    try {
      val _ = definitions.format(family)
      true
    } catch {
      // Spark's sentence, which has the class of its error, or Holdfast's.
      case e: SparkThrowable if e.getCondition != null => false
      case e: IllegalStateException if e.getMessage.startsWith("column family 'one'") => false
    }
  }

  private lazy val definitions =
    Files.of(Input.of(Array.emptyByteArray), families = true).definitions
}

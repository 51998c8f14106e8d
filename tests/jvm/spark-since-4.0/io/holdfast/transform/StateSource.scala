package io.holdfast.transform

import java.nio.file.Path

import org.apache.spark.sql.SparkSession

/** What the `statestore` source reads, in any order. */
object StateSource {

  def rows(spark: SparkSession, checkpoint: Path, options: (String, String)*): Set[Seq[Any]] =
    spark.read
      .format("statestore")
      .options(options.toMap)
      .load(checkpoint.toString)
      .collect()
      .map(_.toSeq.map(inAnyOrder))
      .toSet

  // The entries of a map have no order.
  private def inAnyOrder(column: Any): Any = column match {
    case map: scala.collection.Map[_, _] => map.toSet
    case other => other
  }
}

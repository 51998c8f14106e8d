package io.holdfast.query

import java.nio.file.{Files, Path, StandardCopyOption}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.testkit.StateFileBytes

/** The checkpoint folder of a query that is stopped. */
final class QueryCheckpoint(folder: Path) {
  import QueryCheckpoint.LastRecords

  def location: String = folder.toString

  def newestBatch: Long = names(folder.resolve("offsets")).map(_.toLong).max

  /** All state rows after a batch, as Spark's `statestore` source reads them through the provider
    * that the batch names.
    */
  def state(spark: SparkSession, batch: Long): Seq[Row] =
    spark.read
      .format("statestore")
      .option("batchId", batch)
      .load(location)
      .collect()
      .toSeq
      .sortBy(_.toString)

  /** What counts in each state file, by the path of the file: the last record of each key. */
  def stateFiles(codec: String): Map[String, LastRecords] = {
    val operator = folder.resolve("state").resolve("0")
    for {
      partition <- names(operator).filter(_.forall(_.isDigit))
      name <- names(operator.resolve(partition)).filterNot(_.startsWith("_"))
      bytes = Files.readAllBytes(operator.resolve(partition).resolve(name))
      records = StateFileBytes.records(codec, bytes)
    } yield s"$partition/$name" -> records.map(record => record.key -> record.value).toMap
  }.toMap

  /** Puts another provider class into the newest offsets file, from where a restarted query takes
    * it.
    */
  def switchProvider(from: String, to: String): Unit =
    switch(SQLConf.STATE_STORE_PROVIDER_CLASS.key, from, to)

  /** Puts another value of a setting into the newest offsets file. The file system's checksum of the
    * old content goes away with it.
    */
  def switch(setting: String, from: String, to: String): Unit = {
    val file = folder.resolve("offsets").resolve(newestBatch.toString)
    val entry = s""""$setting":"%s""""
    val text = Files.readString(file)
    assert(text.contains(entry.format(from)), s"$file does not name $from: $text")

    val temporary = file.resolveSibling(s".${file.getFileName}.tmp")
    Files.writeString(temporary, text.replace(entry.format(from), entry.format(to)))
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE)
    ()
  }

  private def names(of: Path): Seq[String] =
    Using.resource(Files.list(of)) {
      _.iterator.asScala.map(_.getFileName.toString).filterNot(_.startsWith(".")).toSeq
    }
}

object QueryCheckpoint {
  type LastRecords = Map[Seq[Byte], Option[Seq[Byte]]]
}

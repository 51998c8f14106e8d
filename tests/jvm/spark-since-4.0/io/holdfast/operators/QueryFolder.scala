package io.holdfast.operators

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

/** The files of one query on one provider, for the drivers that run it and the suite that looks.
  *
  * @param root
  *   the folder of the whole run
  * @param query
  *   the query's name
  */
final class QueryFolder(root: Path, query: String, provider: String) {
  // Spark's reader of states does not find folders with spaces.
  private val folder = root.resolve(provider).resolve(query.replaceAll("\\W+", "-"))

  val checkpoint: Path = folder.resolve("checkpoint")
  private val output = folder.resolve("output")
  private val stateFile = folder.resolve("state")

  /** Keeps what a batch wrote; a later attempt at the batch takes the place of an earlier one. */
  def writeBatch(batch: Long, rows: Seq[String]): Unit = write(output.resolve(batch.toString), rows)

  def writeState(rows: Seq[String]): Unit = write(stateFile, rows)

  /** What each batch wrote at last. */
  def batches: Map[Long, Seq[String]] =
    names(output).map(name => name.toLong -> read(output.resolve(name))).toMap

  def state: Seq[String] = read(stateFile)

  /** The newest batch in a log of the checkpoint, `offsets` or `commits`; -1 for none. */
  def newest(log: String): Long =
    names(checkpoint.resolve(log))
      .filterNot(_.startsWith("."))
      .map(_.toLong)
      .maxOption
      .getOrElse(-1)

  /** The partitions that have written a version, which has an id in checkpoint format 2. */
  def partitionsWith(version: Long): Set[Int] = {
    val operator = checkpoint.resolve("state").resolve("0")
    val delta = s"$version(_.+)?\\.delta".r
    names(operator)
      .filter(partition => names(operator.resolve(partition)).exists(delta.matches))
      .map(_.toInt)
      .toSet
  }

  private def write(file: Path, rows: Seq[String]): Unit = {
    Files.createDirectories(file.getParent)
    Files.write(file, rows.sorted.asJava)
    ()
  }

  private def read(file: Path): Seq[String] = Files.readAllLines(file).asScala.toSeq

  private def names(of: Path): Seq[String] =
    if (Files.isDirectory(of)) {
      Using.resource(Files.list(of))(_.iterator.asScala.map(_.getFileName.toString).toList)
    } else Nil
}

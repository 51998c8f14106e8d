package io.holdfast.golden

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.holdfast.testkit.Provider

/** A store in `tests/golden`, by the name of its folder there. */
final case class GoldenStore(name: String, codec: String, rowChecksums: Boolean) {

  /** The folder of all its files. */
  val folder: Path = Paths.get(sys.props("holdfast.tests"), "golden").resolve(name)

  /** What a provider takes for the `state` folder of a checkpoint. */
  val root: Path = folder.resolve("state")

  /** The folder of its state files. */
  val stateFolder: Path = root.resolve("0").resolve("0")

  def settings: Provider = Provider().codec(codec).rowChecksums(rowChecksums)

  def stateFiles: Seq[Path] =
    Using.resource(Files.list(stateFolder))(_.iterator.asScala.toSeq.sortBy(_.toString))

  def expected: Expected = Expected.parse(Files.readString(expectedFile))

  def write(expected: Expected): Unit = {
    Files.writeString(expectedFile, s"${expected.json}\n")
    ()
  }

  private def expectedFile = folder.resolve("expected.json")
}

object GoldenStore {

  /** The Spark lines whose default provider wrote golden stores. */
  val lines: Seq[String] = Seq("4.2")

  /** Those that the default provider of a Spark line writes. */
  def ofLine(line: String): Seq[GoldenStore] = for {
    codec <- Provider.codecs
    rowChecksums <- Seq(false, true)
    suffix = if (rowChecksums) "-rowchecksums" else ""
  } yield GoldenStore(s"spark-$line/$codec$suffix", codec, rowChecksums)

  /** As Spark before 2.3 wrote them: some values are followed by 4 bytes that mean nothing. */
  val withOddValues: GoldenStore = GoldenStore("before-spark-2.3", "lz4", rowChecksums = false)

  val all: Seq[GoldenStore] = lines.flatMap(ofLine) :+ withOddValues
}

package io.holdfast.fuzz

import java.nio.file.{Files => JavaFiles, Path}

import scala.jdk.CollectionConverters._

import io.holdfast.file.StateFile

/** The state files in `tests`, which Spark and Holdfast have written. The folder is said by the system
  * property `holdfast.tests`.
  */
object Golden {
  private lazy val tests = Path.of(sys.props("holdfast.tests"))

  /** Files without column families, as they are on the disk. */
  def files: Seq[Input] = in("golden/spark-4.2")

  /** Files with column families, as they are on the disk. */
  def familyFiles: Seq[Input] = in("golden-families")

  /** What a search has found, or looked at for long, in `corrupt/jvm`.
    *
    * @param target
    *   name of what is given them
    */
  def corrupt(target: String): Seq[Array[Byte]] =
    walked(tests.resolve(s"corrupt/jvm/$target")).map(JavaFiles.readAllBytes)

  // Folders are called by codec, and by whether rows have checksums.
  private def in(folder: String): Seq[Input] = for {
    file <- walked(tests.resolve(folder))
    written = tests.resolve(folder).relativize(file).getName(0).toString
    codec <- Input.codecs.filter(written.startsWith)
    kind <- Seq(StateFile.Delta, StateFile.Snapshot)
    name = file.getFileName.toString
    if name.endsWith(s".${kind.suffix}")
  } yield Input(
    kind,
    written.endsWith("-rowchecksums"),
    codec,
    JavaFiles.readAllBytes(file),
    if (kind == StateFile.Delta) name.stripSuffix(s".${kind.suffix}").toInt - 1 else 0)

  private def walked(folder: Path): Seq[Path] =
    if (!JavaFiles.isDirectory(folder)) Nil
    else {
      val found = JavaFiles.walk(folder)
      try found.iterator().asScala.filter(JavaFiles.isRegularFile(_)).toSeq.sorted
      finally found.close()
    }
}

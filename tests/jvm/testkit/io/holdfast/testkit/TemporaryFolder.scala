package io.holdfast.testkit

import java.nio.file.{Files, Path}
import java.util.Comparator

/** Folders that are gone after their test. */
object TemporaryFolder {

  def use[A](body: Path => A): A = {
    val folder = Files.createTempDirectory("holdfast")
    try body(folder)
    finally delete(folder)
  }

  private def delete(folder: Path): Unit = {
    val found = Files.walk(folder)
    try found.sorted(Comparator.reverseOrder[Path]).forEach(Files.delete(_))
    finally found.close()
  }
}

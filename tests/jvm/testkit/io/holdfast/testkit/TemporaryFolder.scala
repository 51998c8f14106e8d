package io.holdfast.testkit

import java.io.UncheckedIOException
import java.nio.file.{DirectoryNotEmptyException, Files, Path}
import java.util.Comparator

import scala.annotation.tailrec

/** Folders that are gone after their test. */
object TemporaryFolder {

  def use[A](body: Path => A): A = {
    val folder = Files.createTempDirectory("holdfast")
    try body(folder)
    finally delete(folder)
  }

  // Threads of Spark that no query waits for may still write there, and delete.
  @tailrec
  private def delete(folder: Path, attempts: Int = 10): Unit =
    if (!isDeleted(folder, isLast = attempts == 1)) delete(folder, attempts - 1)

  private def isDeleted(folder: Path, isLast: Boolean): Boolean =
    try {
      val found = Files.walk(folder)
      try
        found.sorted(Comparator.reverseOrder[Path]).forEach { path =>
          Files.deleteIfExists(path)
          ()
        }
      finally found.close()
      true
    } catch {
      case _: DirectoryNotEmptyException | _: UncheckedIOException if !isLast => false
    }
}

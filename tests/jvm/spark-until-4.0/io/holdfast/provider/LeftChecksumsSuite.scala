package io.holdfast.provider

import java.nio.file.Files

import io.holdfast.testkit._

/** A query that has come down from Spark 4.1. This Spark cannot say whether the checksums are right. */
class LeftChecksumsSuite extends LeftChecksums {

  override protected def withChecksums(store: TestStore): Unit =
    store.fileNames.foreach { name =>
      Files.write(store.folder.resolve(s"$name.crc"), Array[Byte](1))
    }

  override protected def countsLater(store: TestStore, version: Long): Map[String, Long] = {
    store.reopen()
    store.counts(version)
  }
}

package io.holdfast.provider

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit._

/** A query that has come down from Spark 4.1, which leaves a file of checksums beside each state file, and
  * may go up again.
  */
class LeftChecksumsSuite extends AnyFunSuite {

  private def withChecksums(store: TestStore): Unit = {
    store.fileNames.foreach { name =>
      Files.write(store.folder.resolve(s"$name.crc"), Array[Byte](1))
    }
    store.reopen()
  }

  private def checksums(store: TestStore): Seq[String] =
    store.fileNames.filter(_.endsWith(".crc"))

  private def threeVersions(store: TestStore): Unit = {
    (0L until 3L).foreach(version => store.commit(version, Put("a", version)))
    store.provider.doMaintenance()
    assert(store.fileNames == Seq("1.delta", "2.delta", "3.delta", "3.snapshot"))
    withChecksums(store)
  }

  test("the checksums of files go when those of another attempt take their place") {
    TestStore.use(Provider().minDeltas(0)) { store =>
      threeVersions(store)
      store.commit(2, Put("a", 20), Put("b", 30))
      store.awaitSnapshots()
      store.provider.doMaintenance()
      assert(store.fileNames.contains("3.snapshot"))
      assert(checksums(store) == Seq("1.delta.crc", "2.delta.crc"))
    }
  }

  test("a query that begins anew over old files takes those of each that it replaces away") {
    TestStore.use(Provider().minDeltas(0)) { store =>
      threeVersions(store)
      store.commit(0, Put("a", 100))
      assert(!checksums(store).contains("1.delta.crc"))
      assert(checksums(store).contains("2.delta.crc"))
      (1L until 3L).foreach(version => store.commit(version, Put("a", 100 + version)))
      assert(checksums(store).isEmpty)
    }
  }
}

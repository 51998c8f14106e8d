package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, TestStore}

/** Files of checksums that a run has left beside state files, of which a later run writes none: that of
  * Spark 4.1, which has them on, before one of Spark 4.0, or of 4.2. When the query goes back to 4.1, a
  * file that is not what its checksums say is refused.
  */
class LeftChecksumsSuite extends AnyFunSuite {

  private val left = Array[Byte](1, 2, 3)

  private def checksums(store: TestStore): Seq[String] =
    store.fileNames.filter(_.endsWith(".crc"))

  private def withChecksums[A](body: TestStore => A): A =
    TestStore.use(Provider().minDeltas(2).retained(2)) { store =>
      (0L until 4L).foreach(version => store.commit(version, Put("a", version)))
      store.provider.doMaintenance()
      store.fileNames.foreach(name => store.overwrite(s"$name.crc", left))
      assert(store.fileNames.contains("4.snapshot.crc"))
      store.reopen()
      body(store)
    }

  test("those of a delta and of a snapshot go when others take their place") {
    withChecksums { store =>
      store.commit(3L, Put("a", 7))
      assert(checksums(store) == Seq("1.delta.crc", "2.delta.crc", "3.delta.crc"))
      store.provider.doMaintenance()
      store.reopen()
      assert(store.counts(4) == Map("a" -> 7L))
    }
  }

  test("those of files that a cleanup deletes go with them") {
    withChecksums { store =>
      (4L until 12L).foreach { version =>
        store.commit(version, Put("a", version))
        store.provider.doMaintenance()
      }
      assert(!store.fileNames.contains("4.delta"))
      assert(checksums(store).isEmpty)
    }
  }

  test("those of files that stay are left alone") {
    withChecksums { store =>
      store.commit(4L, Put("a", 7))
      assert(store.files("4.delta.crc") == left.toSeq)
      assert(checksums(store).size == 5)
    }
  }
}

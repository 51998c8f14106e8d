package io.holdfast.checkpoint

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.checkpoint.DamagedFiles.{Read, Refused}
import io.holdfast.testkit.Provider

/** State files cut off at every byte. */
class TruncatedFilesSuite extends AnyFunSuite {

  for {
    codec <- Provider.codecs
    source <- DamagedFiles.sources
    rowChecksums <- Seq(false, true)
  } test(
    s"${source.damaged} with $codec, row checksums $rowChecksums, is refused by name wherever it ends") {
    DamagedFiles.use(Provider().codec(codec).rowChecksums(rowChecksums), source) { store =>
      val whole = store.bytes(source.damaged)
      val state = store.state(2)
      val outcomes =
        whole.indices.map(length => DamagedFiles.outcome(store, source, whole.take(length)))

      // What a codec puts behind the last block may be missing, never what the blocks hold.
      val readable = outcomes.collect { case Read(found) => found }
      assert(readable.forall(_ == state))
      assert(outcomes.take(whole.length - 24).forall(_.isInstanceOf[Refused]))
      assert(DamagedFiles.outcome(store, source, whole) == Read(state))
    }
  }

  for (source <- DamagedFiles.sources)
    test(s"${source.damaged} of a store with column families is refused wherever it ends") {
      DamagedFiles.use(Provider().withFamilies, source) { store =>
        val whole = store.bytes(source.damaged)
        val state = store.state(2)
        whole.indices.foreach { length =>
          val outcome = DamagedFiles.outcome(store, source, whole.take(length))
          assert(outcome.isInstanceOf[Refused], s"- $length bytes")
        }
        assert(DamagedFiles.outcome(store, source, whole) == Read(state))
      }
    }
}

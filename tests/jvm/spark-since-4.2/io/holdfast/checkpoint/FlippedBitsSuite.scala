package io.holdfast.checkpoint

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.checkpoint.DamagedFiles.{Read, Refused}
import io.holdfast.testkit.{Provider, SeededTests}

/** State files with one bit turned round, in every byte in turn. */
class FlippedBitsSuite extends AnyFunSuite with SeededTests {

  for {
    codec <- Provider.codecs
    source <- DamagedFiles.sources
  } {
    seeded(s"with row checksums, no flipped bit in a $codec ${source.damaged} makes another row") {
      random =>
        DamagedFiles.use(Provider().codec(codec).rowChecksums(true), source) { store =>
          val written = (store.state(1).toSeq ++ store.state(2)).toSet
          flips(store.bytes(source.damaged), random).foreach { case (bit, bytes) =>
            withClue(s"bit $bit: ") {
              DamagedFiles.outcome(store, source, bytes) match {
                case Read(found) => assert(found.toSet.subsetOf(written))
                case _ =>
              }
            }
          }
        }
    }

    seeded(s"with column families, no $codec ${source.damaged} with a flipped bit is read") {
      random =>
        DamagedFiles.use(Provider().codec(codec).withFamilies, source) { store =>
          flips(store.bytes(source.damaged), random).foreach { case (bit, bytes) =>
            withClue(s"bit $bit: ") {
              assert(DamagedFiles.outcome(store, source, bytes).isInstanceOf[Refused])
            }
          }
        }
    }

    seeded(s"without checksums, a $codec ${source.damaged} with a flipped bit is refused or read") {
      random =>
        DamagedFiles.use(Provider().codec(codec), source) { store =>
          flips(store.bytes(source.damaged), random).foreach { case (bit, bytes) =>
            withClue(s"bit $bit: ")(DamagedFiles.outcome(store, source, bytes))
          }
        }
    }
  }

  // One bit of every byte: all of them would take minutes.
  private def flips(whole: Array[Byte], random: Random): Iterator[(Int, Array[Byte])] =
    whole.indices.iterator.map { at =>
      val bit = random.nextInt(8)
      val bytes = whole.clone()
      bytes(at) = (bytes(at) ^ 1 << bit).toByte
      8 * at + bit -> bytes
    }
}

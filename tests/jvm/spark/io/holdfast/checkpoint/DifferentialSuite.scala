package io.holdfast.checkpoint

import org.scalacheck.Prop
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, SeededTests}

/** Random scripts on Spark's default provider and on Holdfast side by side: the same answers, and each
  * reads the other's files, at every version that can be recovered.
  */
class DifferentialSuite extends AnyFunSuite with SeededTests {

  for {
    codec <- Provider.codecs
    rowChecksums <- Seq(false, true)
  } {
    val settings =
      Provider().codec(codec).rowChecksums(rowChecksums).minDeltas(3).inMemory(2)
    property(
      s"Spark's provider and Holdfast do the same with $codec files, row checksums $rowChecksums",
      runs = 15) {
      Prop.forAll(StoreScript.scripts)(script => proposition(settings, script))
    }
  }

  property("they do the same when nothing stays in memory", runs = 15) {
    val settings = Provider().minDeltas(2).inMemory(0)
    Prop.forAll(StoreScript.scripts)(script => proposition(settings, script))
  }

  private def proposition(settings: Provider, script: List[StoreScript.Step]): Prop =
    SideBySide.firstDifference(settings, script) match {
      case None => Prop.passed
      case Some(difference) => Prop.falsified :| difference
    }
}

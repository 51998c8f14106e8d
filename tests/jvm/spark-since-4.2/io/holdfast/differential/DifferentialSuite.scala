package io.holdfast.differential

import org.scalacheck.Prop
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{FullOnly, SeededTests}

/** Random scripts on Spark's default provider and on Holdfast side by side. `./dev soak` runs more of
  * them.
  */
class DifferentialSuite extends AnyFunSuite with SeededTests {

  for ((scripts, runs, tags) <- Seq(("500 scripts", 500, Nil), ("1,500 more", 1500, Seq(FullOnly))))
    property(
      "Spark's provider and Holdfast give the same answers, write the same files, keep the same " +
        s"versions recoverable, and each reads the other's: $scripts",
      runs,
      threads = 2,
      tags) {
      DifferentialSuite.same
    }
}

object DifferentialSuite {

  /** Any script does the same on both. */
  val same: Prop = Prop.forAllShrink(Scripts.all, Scripts.shrink.shrink) { script =>
    SideBySide.firstDifference(script) match {
      case None => Prop.passed
      case Some(difference) => Prop.falsified :| difference
    }
  }
}

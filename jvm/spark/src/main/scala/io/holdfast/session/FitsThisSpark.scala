package io.holdfast.session

import org.apache.spark.SPARK_VERSION

/** Refuses to run on another Spark line than the jar was built for.
  *
  * A class and not a trait, because its constructor has to come before the initialisers of Spark's
  * traits: those are what a wrong jar fails in, with an error that tells a user nothing.
  */
private[holdfast] abstract class FitsThisSpark {
  FitsThisSpark.check()
}

private[holdfast] object FitsThisSpark {

  /** @throws IllegalStateException
    *   if the running Spark is not the jar's
    */
  def check(): Unit =
    BuildInfo.mismatch(BuildInfo.current, SPARK_VERSION).foreach { sentence =>
      throw new IllegalStateException(sentence)
    }
}

package io.holdfast.provider

import org.apache.spark.sql.execution.streaming.state.SupportsFineGrainedReplay
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, TestRows, TestStore}

/** A replayed version for reading only is not had as a writable store, from Spark 4.3 on. */
class ReadOnlyReplaySuite extends AnyFunSuite {

  for (className <- Seq(Provider.Holdfast, Provider.Spark))
    test(s"${className.split('.').last} gives a store for reading by the call for reading alone") {
      TestStore.use(Provider().by(className)) { test =>
        test.commitWithSnapshot(0, Put("a", 1))
        if (className == Provider.Spark) test.provider.doMaintenance()
        val provider = test.provider.asInstanceOf[SupportsFineGrainedReplay]
        intercept[IllegalArgumentException](provider.replayStateFromSnapshot(1, 1, readOnly = true))
        val rows = provider.replayReadStateFromSnapshot(1, 1)
        try assert(TestRows.counts(rows) == Map("a" -> 1L))
        finally rows.release()
      }
    }
}

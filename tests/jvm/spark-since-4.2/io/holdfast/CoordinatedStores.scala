package io.holdfast

import org.apache.spark.sql.execution.streaming.state.holdfast.Coordinator
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreCoordinatorRef}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.{SparkConf, SparkContext, SparkEnv}
import org.scalatest.Outcome
import org.scalatest.funsuite.FixtureAnyFunSuite

/** Tests of stores that Spark's `StateStore` object hands out, with a coordinator as in a driver. */
trait CoordinatedStores extends FixtureAnyFunSuite {

  override protected type FixtureParam = Stores

  /** Spark settings of stores and coordinator, by name. */
  protected def settings: Map[String, Any] = Map.empty

  override protected def withFixture(test: OneArgTest): Outcome = {
    StateStore.stop()
    val conf = new SQLConf
    conf.setConf(SQLConf.STATE_STORE_PROVIDER_CLASS, classOf[HoldfastStateStoreProvider].getName)
    settings.foreach { case (name, value) => conf.setConfString(name, value.toString) }
    val spark = new SparkContext(new SparkConf().setMaster("local").setAppName(test.name))
    try {
      val coordinator = new Coordinator(StateStoreCoordinatorRef.forDriver(SparkEnv.get, conf))
      withFixture(test.toNoArgTest(new Stores(conf, coordinator)))
    } finally {
      StateStore.stop()
      spark.stop()
    }
  }
}

package io.holdfast.testkit

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.holdfast.FakeTask
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreConf,
  StateStoreId,
  StateStoreProvider
}
import org.apache.spark.sql.types.StructType

/** The call by which Spark 3.5 tells a provider what its store is, in a task of a query's run. */
object Initialise {

  def apply(
      provider: StateStoreProvider,
      id: StateStoreId,
      key: StructType,
      value: StructType,
      prefixColumns: Option[Int],
      columnFamilies: Boolean,
      conf: StateStoreConf,
      hadoopConf: Configuration,
      run: UUID): Unit = {
    require(!columnFamilies, "Spark 3.5 has no column families")
    new FakeTask("spark.jobGroup.id" -> run.toString)(
      provider.init(id, key, value, prefixColumns.getOrElse(0), conf, hadoopConf))
  }
}

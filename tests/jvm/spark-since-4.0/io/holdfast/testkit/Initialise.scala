package io.holdfast.testkit

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StreamExecution
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  StateStoreConf,
  StateStoreId,
  StateStoreProvider
}
import org.apache.spark.sql.types.StructType

/** The call by which Spark tells a provider what its store is, from 4.0 on. */
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
    hadoopConf.set(StreamExecution.RUN_ID_KEY, run.toString)
    val encoder = prefixColumns.fold[KeyStateEncoderSpec](NoPrefixKeyStateEncoderSpec(key))(
      PrefixKeyScanStateEncoderSpec(key, _))
    provider.init(id, key, value, encoder, columnFamilies, conf, hadoopConf)
  }
}

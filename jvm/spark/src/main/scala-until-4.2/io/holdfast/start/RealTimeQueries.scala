package io.holdfast.start

import org.apache.spark.sql.SparkSession

import io.holdfast.conf.HoldfastConf

/** Spark before 4.3 has no real-time mode for queries with state. */
private[start] object RealTimeQueries {

  def in(session: SparkSession): Unit = throw new IllegalArgumentException(
    s"${HoldfastConf.RealTimeMode.name} is true in a session of Spark " +
      s"${session.version}, which has no real-time mode for queries with state: Spark has it from " +
      s"4.3 on. Leave the setting out, and set ${QueryStart.ProviderSetting}")
}

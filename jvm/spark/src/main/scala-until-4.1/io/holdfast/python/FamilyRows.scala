package io.holdfast.python

import java.io.{DataInputStream, DataOutputStream}

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}

/** The rows of stores with column families, which Spark gives and takes from 4.2 on. */
private[holdfast] object FamilyRows {

  def open(
      store: DescribedStore,
      families: Seq[DescribedFamily],
      hadoopConf: Configuration): StateStoreProvider = refuse(store)

  def read(
      store: DescribedStore,
      families: Seq[DescribedFamily],
      provider: StateStoreProvider,
      out: DataOutputStream): Long = refuse(store)

  def write(families: Seq[DescribedFamily], in: DataInputStream, rows: StateStore): Long =
    refuse(rows.id)

  private def refuse(store: Any): Nothing =
    throw new UnsupportedOperationException(
      s"The column families of the store $store cannot be carried by Spark $SPARK_VERSION: Spark " +
        "tells all of them from 4.2 on. Use pyspark 4.2 or newer to convert this checkpoint")
}

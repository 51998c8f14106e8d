package io.holdfast

import org.apache.spark.sql.internal.SQLConf

/** The same with a checksum in every row. */
class HoldfastRowChecksumContractSuite extends HoldfastContractSuite {

  override def getDefaultSQLConf(
      minDeltasForSnapshot: Int,
      numOfVersToRetainInMemory: Int): SQLConf = {
    val conf = super.getDefaultSQLConf(minDeltasForSnapshot, numOfVersToRetainInMemory)
    conf.setConf(SQLConf.STATE_STORE_ROW_CHECKSUM_ENABLED, true)
    conf
  }
}

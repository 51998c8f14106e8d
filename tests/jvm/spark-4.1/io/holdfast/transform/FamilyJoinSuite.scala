package io.holdfast.transform

/** All joins of the one format with column families that Spark 4.1 has. */
class FamilyJoinSuite
    extends FamilyJoins(FamilyJoins.all.filter(_.format == 3), begunOnRocksDB = false)

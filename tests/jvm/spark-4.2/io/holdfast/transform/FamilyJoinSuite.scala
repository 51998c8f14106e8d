package io.holdfast.transform

import org.scalatest.tags.Slow

/** One join of each format, and one of each kind of key. */
class FamilyJoinSuite extends FamilyJoins(FamilyJoins.representative, begunOnRocksDB = false)

/** The others. */
@Slow
class FamilyJoinMoreSuite extends FamilyJoins(FamilyJoins.others, begunOnRocksDB = false)

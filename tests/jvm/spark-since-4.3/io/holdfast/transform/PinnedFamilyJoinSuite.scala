package io.holdfast.transform

import io.holdfast.testkit.FullOnly

/** A join of each format whose checkpoint pins it. */
class PinnedFamilyJoinSuite extends FamilyJoins(FamilyJoins.pinned, begunOnRocksDB = true)

/** The others. */
class PinnedFamilyJoinMoreSuite
    extends FamilyJoins(FamilyJoins.othersPinned, begunOnRocksDB = true, FullOnly)

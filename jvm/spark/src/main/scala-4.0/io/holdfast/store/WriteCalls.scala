package io.holdfast.store

/** Writing as Spark 4.0 asks for it. */
private[holdfast] trait WriteCalls extends FamilyWrites

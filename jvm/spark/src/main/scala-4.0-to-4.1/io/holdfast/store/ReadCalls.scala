package io.holdfast.store

/** Reading as Spark 4.0 and 4.1 ask for it. */
private[holdfast] trait ReadCalls extends FamilyReads

package io.holdfast.store

/** Writing as Spark 4.1 asks for it. */
private[holdfast] trait WriteCalls extends ListWrites

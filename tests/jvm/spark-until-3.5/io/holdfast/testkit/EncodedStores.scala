package io.holdfast.testkit

/** Spark 3.5 has stores of one kind alone. */
trait EncodedStores

package org.apache.spark.sql.execution.python.streaming.holdfast

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.collection.OpenHashSet

/** The grouping keys whose state may change between a read ahead and the handler that it is for.
  *
  * A key comes to Python once in a batch, but for those that differ there and are one to Spark: each NaN is
  * a key of its own, and where a column of pandas has a null, all integers are null as keys of state. Their
  * handlers see what those before them have changed, so what is read ahead is right for the first alone.
  *
  * While a window of keys is read, the handlers of the one before it are still to run. So there are the keys
  * of two windows here: the client sends those of a window of which it asked nothing along with the next one.
  */
final private class KeysAhead(schema: StructType) {

  // As the keys of state are made, so that two keys have one state if they are the same here.
  private val encode = ExpressionEncoder(schema).createSerializer()
  private var earlier = new OpenHashSet[Int]
  private var current = new OpenHashSet[Int]

  /** Begins a window that comes after the one before. */
  def next(): Unit = {
    earlier = current
    current = new OpenHashSet[Int]
  }

  /** Takes note of a key of the window; returns whether no handler before its own changes its state. */
  def isFirst(key: Row): Boolean = {
    // Of its bytes. Where two keys have the same by chance, one more is asked for when it is needed.
    val hash = encode(key).hashCode
    val isNew = !earlier.contains(hash) && !current.contains(hash)
    current.add(hash)
    isNew
  }
}

package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.SparkEnv

/** What Spark has given out of the memory that it counts, to cached data and to operators. Any thread may
  * call.
  */
object SparkMemory {

  /** Heap bytes of it. None where Spark may take it outside the heap: it does not say then how much is
    * where (`MemoryManager`, Spark 4.3).
    */
  def heapBytes: Long =
    Option(SparkEnv.get).flatMap(env => Option(env.memoryManager)).fold(0L) { memory =>
      if (memory.maxOffHeapStorageMemory > 0L) 0L
      else memory.storageMemoryUsed + memory.executionMemoryUsed
    }
}

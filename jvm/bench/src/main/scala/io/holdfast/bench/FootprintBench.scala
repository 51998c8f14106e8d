package io.holdfast.bench

import java.lang.management.ManagementFactory
import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import io.holdfast.bench.FootprintBench.Heap

/** Heap bytes for each row of a store, after full collections: `heapBytesPerRow`.
  *
  * The counter is what this benchmark is for; its time means nothing. The provider holds `versions`
  * versions, between which all rows were rewritten. Providers that keep rows outside the heap show
  * little here.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.SingleShotTime))
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = Array("-Xmx8g"))
@Warmup(iterations = 0)
@Measurement(iterations = 1)
class FootprintBench {

  @Param(Array("holdfast", "hdfs"))
  var provider: String = _

  @Param(Array("10000", "100000", "1000000"))
  var rows: Long = _

  @Param(Array("small"))
  var kind: String = _

  @Param(Array("1", "2"))
  var versions: Int = _

  @Benchmark
  def footprint(heap: Heap): LoadedStore = {
    val before = FootprintBench.usedBytes()
    val loaded = new LoadedStore(
      Peer.named(provider).set("spark.sql.streaming.maxBatchesToRetainInMemory" -> s"$versions"),
      RowKind.named(kind),
      rows)
    (2 to versions + 1).foreach { _ =>
      loaded.commit { store =>
        var row = 0L
        while (row < rows) {
          store.put(loaded.kind.key(row), loaded.kind.value(row))
          row += 1
        }
      }
    }
    heap.perRow = (FootprintBench.usedBytes() - before).toDouble / rows
    loaded.close()
    loaded
  }
}

object FootprintBench {

  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  class Heap {
    private[bench] var perRow = 0.0

    def heapBytesPerRow(): Double = perRow
  }

  private def usedBytes(): Long = {
    // One collection leaves what finalisers and reference queues still hold.
    (1 to 3).foreach(_ => System.gc())
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
  }
}

package io.holdfast.bench

import java.util.SplittableRandom
import java.util.concurrent.TimeUnit

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}
import org.openjdk.jmh.annotations._
import org.openjdk.jmh.infra.Blackhole

/** The operations of a state store, each on a store of `rows` rows.
  *
  * Every invocation does its operation `Changes` times or walks the store once, so that single-shot
  * times are well above the clock's resolution; the report divides. Opening and ending the stores
  * that operations run on is not part of their time, except in `batch`, which is a whole
  * micro-batch: open, change, commit, and maintenance once in ten.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.SingleShotTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = Array("-Xmx8g", "-Xms8g"))
@Warmup(iterations = 6)
@Measurement(iterations = 10)
class StoreBench {
  import StoreBench._

  @Param(Array("holdfast", "hdfs", "rocksdb"))
  var provider: String = _

  @Param(Array("10000", "100000", "1000000"))
  var rows: Long = _

  @Param(Array("small"))
  var kind: String = _

  private var loaded: LoadedStore = _
  private var random: SplittableRandom = _
  private var readStore: ReadStateStore = _
  private var writeStore: StateStore = _
  private var batches = 0

  @Setup(Level.Trial)
  def load(): Unit = {
    loaded = new LoadedStore(Peer.named(provider), RowKind.named(kind), rows)
    random = new SplittableRandom(42L)
  }

  @TearDown(Level.Trial)
  def close(): Unit = loaded.close()

  @TearDown(Level.Invocation)
  def end(): Unit = {
    if (readStore != null) readStore.abort()
    if (writeStore != null && !writeStore.hasCommitted) writeStore.abort()
    readStore = null
    writeStore = null
  }

  @Benchmark
  def openForWrite(): StateStore = {
    writeStore = loaded.open()
    writeStore
  }

  @Benchmark
  def openForRead(): ReadStateStore = {
    readStore = loaded.provider.getReadStore(loaded.version)
    readStore
  }

  @Benchmark
  def getHit(reading: Reading, blackhole: Blackhole): Unit = {
    var i = 0
    while (i < Changes) {
      blackhole.consume(reading.store.get(loaded.kind.key(random.nextLong(rows))))
      i += 1
    }
  }

  @Benchmark
  def getMiss(reading: Reading, blackhole: Blackhole): Unit = {
    var i = 0
    while (i < Changes) {
      blackhole.consume(reading.store.get(loaded.kind.key(rows + random.nextLong(rows))))
      i += 1
    }
  }

  @Benchmark
  def iterate(reading: Reading, blackhole: Blackhole): Unit = {
    val iterator = reading.store.iterator()
    while (iterator.hasNext) blackhole.consume(iterator.next())
    iterator.close()
  }

  @Benchmark
  def putOverwrite(writing: Writing): Unit = {
    var i = 0
    while (i < Changes) {
      writing.store.put(loaded.kind.key(random.nextLong(rows)), loaded.kind.value(i.toLong))
      i += 1
    }
  }

  @Benchmark
  def putNew(writing: Writing): Unit = {
    var i = 0
    while (i < Changes) {
      writing.store.put(loaded.kind.key(rows + i), loaded.kind.value(i.toLong))
      i += 1
    }
  }

  @Benchmark
  def remove(writing: Writing): Unit = {
    var i = 0
    while (i < Changes) {
      writing.store.remove(loaded.kind.key(random.nextLong(rows)))
      i += 1
    }
  }

  @Benchmark
  def commit(changed: Changed): Long = changed.store.commit()

  @Benchmark
  def batch1000(): Unit = batch(1000)

  @Benchmark
  def batch100000(): Unit = batch(100000)

  private def batch(changes: Int): Unit = {
    loaded.commit { store =>
      var i = 0
      while (i < changes) {
        val number = random.nextLong(rows)
        val key = loaded.kind.key(number)
        blackholeGet(store, key)
        store.put(key, loaded.kind.value(number + i))
        i += 1
      }
    }
    batches += 1
    if (batches % MaintenanceEvery == 0) loaded.provider.doMaintenance()
  }

  // An update reads before it writes, as aggregations do.
  private def blackholeGet(
      store: StateStore,
      key: org.apache.spark.sql.catalyst.expressions.UnsafeRow): Unit =
    if (store.get(key) == null) throw new IllegalStateException("a row is missing")
}

object StoreBench {

  /** Operations in an invocation. */
  final val Changes = 100000

  private val MaintenanceEvery = 10

  /** A store open for reading, outside the time. */
  @State(Scope.Thread)
  class Reading {
    var store: ReadStateStore = _

    @Setup(Level.Invocation)
    def open(bench: StoreBench): Unit =
      store = bench.loaded.provider.getReadStore(bench.loaded.version)

    @TearDown(Level.Invocation)
    def end(): Unit = store.abort()
  }

  /** A store open for writing, outside the time. */
  @State(Scope.Thread)
  class Writing {
    var store: StateStore = _

    @Setup(Level.Invocation)
    def open(bench: StoreBench): Unit = store = bench.loaded.open()

    @TearDown(Level.Invocation)
    def end(): Unit = store.abort()
  }

  /** A store with `Changes` changes that wait for their commit, which is always of one version. */
  @State(Scope.Thread)
  class Changed {
    var store: StateStore = _

    @Setup(Level.Invocation)
    def change(bench: StoreBench): Unit = {
      store = bench.loaded.open()
      var i = 0
      while (i < Changes) {
        val number = bench.random.nextLong(bench.rows)
        store.put(bench.loaded.kind.key(number), bench.loaded.kind.value(number + i))
        i += 1
      }
    }
  }
}

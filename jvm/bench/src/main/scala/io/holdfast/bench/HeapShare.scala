package io.holdfast.bench

import java.nio.file.Path
import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import scala.annotation.tailrec

import org.apache.hadoop.fs.FileUtil
import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import io.holdfast.conf.HoldfastConf
import io.holdfast.memory.{MemoryLimitException, StoreMemory}

/** How much of a heap state can take before the JVM runs out of memory: a query in local mode, with
  * all that Spark needs beside it, whose state grows until something gives way.
  *
  * What gives way is told in the last line: `limit` when the limit of Holdfast's setting came first, as
  * it should, `memory` when an OutOfMemoryError did, with the largest share of the heap that stores
  * counted until then; a run that is stopped from outside says `memory` as well. The limit is a
  * percentage, or `default`; without one (100), the line tells where memory ends.
  * With `cached=true` all that Spark takes for itself (`spark.memory.fraction`) is full of cached data,
  * the most that can be in use beside the state.
  *
  * {{{
  * java @jvm/bench/target/java-arguments -Xmx600m io.holdfast.bench.HeapShare \
  *   limit=100 query=aggregation growth=50000 partitions=2 cached=false
  * }}}
  */
object HeapShare {
  private val MaxBatches = 10000

  // Small arrays, of which a garbage collector puts many into a region.
  private val BlockBytes = 1L << 20
  private val BlockArrays = 16

  // Rows of a query that has them all loaded, or seconds after which events leave its state.
  private val NeverReached = 1000000000L

  private val told = new AtomicBoolean

  def main(words: Array[String]): Unit = {
    val arguments = Arguments.of(words.toSeq)
    val holdfast = Peer.named("holdfast")
    val peer = arguments.text("limit") match {
      case "default" => holdfast
      case percent => holdfast.set(HoldfastConf.MemoryLimit.name -> s"$percent%")
    }
    val most = new AtomicLong
    RunningQuery.inSession(arguments) { (spark, folder) =>
      watch(most, folder)
      // Spark drops what is cached when nobody refers to it.
      val cached = Option.when(arguments.text("cached").toBoolean)(fillCache(spark.sparkContext))
      val query = new RunningQuery(
        spark,
        peer,
        arguments.text("query"),
        NeverReached,
        changes = 0L,
        folder.resolve("query"))
      try {
        (0 until MaxBatches).foreach(batch => query.grow(batch, arguments.long("growth")))
        end(s"nothing beside $cached", most)
      } catch {
        case e: Throwable => end(if (isLimit(e)) "limit" else "memory", most)
      }
    }
  }

  private def fillCache(context: SparkContext): RDD[Array[Array[Byte]]] = {
    val (room, _) = context.getExecutorMemoryStatus.values.head
    val blocks = (room / BlockBytes).toInt + 1
    val cached = context
      .parallelize(1 to blocks, blocks)
      .map(_ => Array.fill(BlockArrays)(new Array[Byte]((BlockBytes / BlockArrays).toInt)))
      .persist(StorageLevel.MEMORY_ONLY)
    cached.count()
    val (_, left) = context.getExecutorMemoryStatus.values.head
    println(s"cached ${(room - left) >> 20} MiB of ${room >> 20}")
    cached
  }

  // An executor that runs out of memory ends its JVM, in local mode this one.
  private def watch(most: AtomicLong, folder: Path): Unit = {
    val watcher = new Thread(() =>
      while (true) {
        most.accumulateAndGet(StoreMemory.heldInThisJvm, (a, b) => math.max(a, b))
        Thread.sleep(1)
      })
    watcher.setDaemon(true)
    watcher.start()
    Runtime.getRuntime.addShutdownHook(new Thread(() => {
      if (!told.get) tell("memory", most)
      val _ = FileUtil.fullyDelete(folder.toFile)
    }))
  }

  private def end(gaveWay: String, most: AtomicLong): Unit = {
    tell(gaveWay, most)
    System.exit(0)
  }

  private def tell(gaveWay: String, most: AtomicLong): Unit = {
    told.set(true)
    val heap = Runtime.getRuntime.maxMemory
    println(
      f"${Measure.Mark}gaveWay=$gaveWay heapMiB=${heap >> 20} stateMiB=${most.get >> 20} " +
        f"share=${100.0 * most.get / heap}%.1f%%")
  }

  @tailrec
  private def isLimit(e: Throwable): Boolean =
    if (e == null) false
    else if (String.valueOf(e.getMessage).contains(classOf[MemoryLimitException].getSimpleName))
      true
    else isLimit(e.getCause)
}

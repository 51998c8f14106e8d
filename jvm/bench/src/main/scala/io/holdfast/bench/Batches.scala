package io.holdfast.bench

import java.nio.file.{Files, Path}
import java.util.SplittableRandom

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.execution.streaming.state.StateStore

/** Micro-batches on a store of a size: each opens the newest version, reads and overwrites random
  * rows, and commits; maintenance runs after every tenth, as a part of the time.
  *
  * Arguments: provider, kind, rows, changes, batches.
  */
object Batches {
  private val MaintenanceEvery = 10
  // All of them stay in the folder, where a query would leave some hundred.
  private val WarmUpBatches = 1000

  def measure(arguments: Arguments): Numbers = {
    val rows = arguments.long("rows")
    val loading = new Times
    val loaded =
      loading.time(new LoadedStore(arguments.peer.keepingAllFiles, arguments.kind, rows))
    try {
      val changes = new Changes(loaded, rows, arguments.int("changes"))
      Collections.settle()
      WarmUp(seconds = 5, WarmUpBatches)(changes.batch())
      loaded.provider.doMaintenance()

      val before = FolderSize.of(loaded.folder)
      val collections = new Collections
      val batches = new Times
      val maintenance = new Times
      val count = arguments.int("batches")
      (1 to count).foreach { batch =>
        batches.time(changes.batch())
        if (batch % MaintenanceEvery == 0) maintenance.time(loaded.provider.doMaintenance())
      }
      val after = FolderSize.of(loaded.folder)
      Seq("loadMillis" -> loading.totalMillis) ++
        batches.numbers("batch") ++
        Seq(
          "batchWithMaintenanceMeanMillis" ->
            (batches.totalMillis + maintenance.totalMillis) / count,
          "writtenBytesPerBatch" -> (after.bytes - before.bytes).toDouble / count,
          "writtenFilesPerBatch" -> (after.files - before.files).toDouble / count) ++
        collections.numbers
    } finally loaded.close()
  }
}

/** Micro-batches that read and overwrite random rows of a store. For one thread. */
final class Changes(loaded: LoadedStore, rows: Long, changes: Int) {
  private val random = new SplittableRandom(42L)

  def batch(): Unit = loaded.commit(overwrite)

  // An update reads before it writes, as aggregations do.
  private def overwrite(store: StateStore): Unit = {
    var i = 0
    while (i < changes) {
      val number = random.nextLong(rows)
      if (store.get(loaded.kind.key(number)) == null) {
        throw new IllegalStateException(s"row $number is missing")
      }
      store.put(loaded.kind.key(number), loaded.kind.value(number + i))
      i += 1
    }
  }
}

/** What lies in a folder. */
final case class FolderSize(files: Long, bytes: Long)

object FolderSize {
  def of(folder: Path): FolderSize = Using.resource(Files.walk(folder)) { found =>
    val sizes = found.iterator.asScala.filter(Files.isRegularFile(_)).map(Files.size).toSeq
    FolderSize(sizes.size.toLong, sizes.sum)
  }
}

package io.holdfast.provider

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.state.holdfast.FileChecksums
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.testkit._

/** A query that has been with Spark 4.1, and may go back. */
class LeftChecksumsSuite extends LeftChecksums {

  // In format 1 Spark 4.1 alone can have them on. Where versions have ids, all lines read those without
  // as well.
  private val on = off.set(
    SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> 2,
    SQLConf.STREAMING_CHECKPOINT_FILE_CHECKSUM_ENABLED.key -> true,
    "spark.sql.streaming.stateStore.fileChecksumThreadPoolSize" -> 0)

  override protected def withChecksums(store: TestStore): Unit = {
    val folder = new Path(store.folder.toUri)
    val manager =
      FileChecksums.over(new LocalFileManager(folder, new Configuration(false)), on.storeConf)
    store.fileNames.foreach { name =>
      val bytes = store.bytes(name)
      val file = manager.createAtomic(new Path(folder, name), overwriteIfPossible = true)
      file.write(bytes)
      file.close()
    }
    manager.close()
  }

  override protected def countsLater(store: TestStore, version: Long): Map[String, Long] =
    Using.resource(new TestStore(on, store.root))(_.counts(version))

  test("what is damaged is told of still") {
    TestStore.use(off) { store =>
      threeVersions(store)
      store.commit(1, Put("a", 20))
      store.overwrite("1.delta", store.bytes("2.delta"))
      intercept[Exception](countsLater(store, 1))
    }
  }
}

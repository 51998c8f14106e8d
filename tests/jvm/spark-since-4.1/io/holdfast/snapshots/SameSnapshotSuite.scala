package io.holdfast.snapshots

import java.nio.file.Files
import java.nio.file.attribute.BasicFileAttributes

import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{
  Background,
  FaultAt,
  FileOperation,
  FileOperations,
  Gate,
  Provider,
  Put,
  TestRows,
  TestStore
}

/** Two executors write a snapshot of the same version, beside checksums of files. */
class SameSnapshotSuite extends AnyFunSuite {
  import SameSnapshotSuite._

  // Found by the simulator, seed 427713: the process that came later died between file and checksum.
  for {
    format <- Seq(1, 2)
    settings = ofFormat(format)
    // Spark 4.1 has checksums in both formats, later lines where versions have ids.
    if settings.storeConf.checkpointFileChecksumEnabled
    // Without ids files are replaced, as by Spark: who comes later sees only what was there before.
    kind <- FileOperation.Create +: Seq(FileOperation.Finish).filter(_ => format == 2)
  } test(s"in format $format one that comes later leaves the other's, also from its $kind on") {
    val late = new Late(kind)
    TestStore.use(settings.watched(late)) { store =>
      val open = store.provider.getStore(0L, None)
      Put("a", 1).applyTo(open)
      Put("b", 2).applyTo(open)
      open.commit()
      val id = open.getStateStoreCheckpointInfo().stateStoreCkptId
      def counts(of: TestStore): Map[String, Long] =
        TestRows.counts(of.provider.getReadStore(1L, id))

      val maintenance = new Background(store.provider.doMaintenance())
      late.gate.awaitArrival()
      val other = new TestStore(settings, store.root)
      try {
        assert(counts(other) == Expected)
        other.provider.doMaintenance()
        val written = snapshot(other)
        late.gate.open()
        maintenance.result()
        assert(snapshot(other) == written)
        other.reopen()
        assert(counts(other) == Expected)
        store.provider.doMaintenance()
        assert(snapshot(other) == written)
        assert(store.fileNames == other.fileNames)
        assert(!store.files.keys.exists(_.endsWith(".tmp")))
      } finally other.close()
    }
  }

  // The file that there is now, and not only its content.
  private def snapshot(store: TestStore): AnyRef = {
    val names = store.fileNames.filter(_.endsWith(".snapshot"))
    assert(names.size == 1)
    Files.readAttributes(store.folder.resolve(names.head), classOf[BasicFileAttributes]).fileKey
  }
}

object SameSnapshotSuite {
  private def ofFormat(format: Int): Provider = Provider()
    .minDeltas(0)
    .set(
      SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> format,
      SQLConf.STREAMING_CHECKPOINT_FILE_CHECKSUM_ENABLED.key -> true)

  private val Expected = Map("a" -> 1L, "b" -> 2L)

  /** Holds up an operation with the snapshot, and lets its file of checksums never appear. */
  private final class Late(kind: FileOperation.Kind) extends FileOperations {
    private val Held = "snapshot"
    val gate = new Gate(kind, Held)

    override def around[A](operation: FileOperation)(proceed: => A): A =
      if (operation.file.endsWith(".snapshot")) gate.around(operation.copy(file = Held))(proceed)
      else if (operation.file.endsWith(".snapshot.crc") && operation.kind == FileOperation.Finish) {
        throw new FaultAt.Fault(operation)
      } else proceed
  }
}

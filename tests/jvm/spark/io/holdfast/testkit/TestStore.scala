package io.holdfast.testkit

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  StateStoreProvider
}
import org.scalatest.Assertions.fail

import io.holdfast.HoldfastStateStoreProvider

/** The store of [[TestRows]] in a folder, with a provider that can be closed and opened again. */
final class TestStore(val settings: Provider, val root: Path) extends AutoCloseable {
  private var current = settings.open(root)

  def provider: StateStoreProvider = current

  /** Forgets what is in memory: afterwards a new provider has only the files. */
  def reopen(): Unit = {
    close()
    current = settings.open(root)
  }

  override def close(): Unit = current.close()

  /** The folder of the state files. */
  val folder: Path = root.resolve("0").resolve("0")

  def write(version: Long, forceSnapshot: Boolean = false): StateStore =
    StoreCalls.write(current, version, forceSnapshot)

  def read(version: Long): ReadStateStore = StoreCalls.read(current, version)

  /** Makes the next version of a version. */
  def commit(version: Long, changes: Change*): Long = committed(write(version), changes)

  /** The same with a snapshot, as Spark asks for it when snapshots lag behind. */
  def commitWithSnapshot(version: Long, changes: Change*): Long =
    try committed(write(version, forceSnapshot = true), changes)
    finally awaitSnapshots()

  /** Returns when the snapshots that commits asked for are written, which they are beside them. */
  def awaitSnapshots(): Unit = current match {
    case holdfast: HoldfastStateStoreProvider => holdfast.store.requested.awaitIdle()
    case _ =>
  }

  /** The versions that Holdfast has in memory, oldest first. */
  def versionsInMemory: Seq[Long] = current match {
    case holdfast: HoldfastStateStoreProvider => holdfast.store.inMemory.ids.map(_.number)
    case other => fail(s"$other does not say what it has in memory")
  }

  def counts(version: Long): Map[String, Long] = reading(version)(TestRows.counts(_))

  def state(version: Long): TestRows.State = reading(version)(TestRows.state(_))

  /** A version as a new provider of some class reads it from the files. */
  def stateFromFiles(version: Long, className: String = settings.className): TestRows.State =
    Using.resource(new TestStore(settings.by(className), root))(_.state(version))

  /** Names of the state files, sorted: without those of the file system's own. */
  def fileNames: Seq[String] = listed.filterNot(_.startsWith(".")).sorted

  /** Everything in the folder, by name. */
  def files: Map[String, Seq[Byte]] = listed.map(name => name -> bytes(name).toSeq).toMap

  def bytes(name: String): Array[Byte] = Files.readAllBytes(folder.resolve(name))

  /** Puts other bytes in the place of a file, and away with the file system's checksum of it. */
  def overwrite(name: String, bytes: Array[Byte]): Unit = {
    Files.createDirectories(folder)
    Files.write(folder.resolve(name), bytes)
    Files.deleteIfExists(folder.resolve(s".$name.crc"))
    ()
  }

  def delete(name: String): Unit = {
    Files.delete(folder.resolve(name))
    Files.deleteIfExists(folder.resolve(s".$name.crc"))
    ()
  }

  // A provider makes the folder when it needs it.
  private def listed: Seq[String] =
    if (!Files.exists(folder)) Nil
    else Using.resource(Files.list(folder))(_.iterator.asScala.map(_.getFileName.toString).toSeq)

  // As a task does: an attempt that fails is given up.
  private def committed(store: StateStore, changes: Seq[Change]): Long =
    try {
      changes.foreach(_.applyTo(store))
      store.commit()
    } catch {
      case e: Throwable =>
        store.abort()
        throw e
    }

  private def reading[A](version: Long)(body: ReadStateStore => A): A = {
    val store = read(version)
    try body(store)
    finally StoreCalls.end(store)
  }
}

object TestStore {

  /** A new store in a folder of its own, gone afterwards. */
  def use[A](settings: Provider = Provider())(body: TestStore => A): A =
    TemporaryFolder.use(root => Using.resource(new TestStore(settings, root))(body))
}

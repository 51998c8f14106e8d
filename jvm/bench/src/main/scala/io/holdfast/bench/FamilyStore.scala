package io.holdfast.bench

import java.nio.file.Path

import org.apache.hadoop.fs.FileUtil
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  StateStore,
  StateStoreProvider
}
import org.apache.spark.sql.types.StructType

/** A column family of a [[FamilyStore]]. */
final case class FamilyShape(
    name: String,
    keySchema: StructType,
    valueSchema: StructType,
    encoder: KeyStateEncoderSpec,
    hasManyValues: Boolean = false)

/** A provider whose store has column families. For one thread. */
final class FamilyStore(peer: Peer, families: Seq[FamilyShape]) {
  private val folder: Path = Peer.workFolder()
  private val provider: StateStoreProvider =
    peer.open(folder, RowKind.named("small"), hasFamilies = true)
  private var version = 0L

  /** Opens the newest version for writing, with its families, as operators do. */
  def open(): StateStore = {
    val store = provider.getStore(version)
    families.foreach { family =>
      store.createColFamilyIfAbsent(
        family.name,
        family.keySchema,
        family.valueSchema,
        family.encoder,
        family.hasManyValues,
        isInternal = family.name.startsWith("$"))
    }
    store
  }

  /** Commits what [[open]] opened. */
  def commit(store: StateStore): Unit = version = store.commit()

  /** Fills the store in batches.
    *
    * @param put
    *   puts what belongs to a number
    */
  def fill(numbers: Long)(put: StateStore => Long => Unit): Unit = {
    (0L until numbers by FamilyStore.AtOnce).foreach { from =>
      val store = open()
      val each = put(store)
      var number = from
      while (number < math.min(numbers, from + FamilyStore.AtOnce)) {
        each(number)
        number += 1
      }
      commit(store)
    }
    provider.doMaintenance()
  }

  def close(): Unit = {
    provider.close()
    val _ = FileUtil.fullyDelete(folder.toFile)
  }
}

object FamilyStore {
  private val AtOnce = 100000L
}

package io.holdfast.snapshots

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.HoldfastStateStoreProvider
import io.holdfast.testkit.{FileOperation, FileOperations, Provider, Put, TestStore}

/** Snapshots and cleanup of one provider at the same time, as Spark 4.3 runs them. */
class FolderKnowledgeSuite extends AnyFunSuite {

  /** Does something right after a folder was listed, once. */
  private final class AfterListing extends FileOperations {
    @volatile var action = Option.empty[() => Unit]

    override def around[A](operation: FileOperation)(proceed: => A): A = {
      val result = proceed
      if (operation.kind == FileOperation.ListFolder) {
        val wanted = action
        action = None
        wanted.foreach(_())
      }
      result
    }
  }

  test("a snapshot that is written while cleanup lists the folder is one to clean up after") {
    val listing = new AfterListing
    TestStore.use(Provider().minDeltas(2).retained(1).watched(listing)) { store =>
      val parts = store.provider match {
        case holdfast: HoldfastStateStoreProvider => holdfast.store
        case other => fail(s"$other is not Holdfast's")
      }
      def commit(versions: Range): Unit =
        versions.foreach(version => store.commit(version - 1L, Put("a", version)))
      def deltas: Seq[Int] =
        store.fileNames.collect { case s"$number.delta" => number.toInt }.sorted

      commit(1 to 3)
      parts.snapshots.run()
      commit(4 to 6)
      listing.action = Some(() => parts.snapshots.run())
      parts.cleanup.run()
      assert(store.fileNames.filter(_.endsWith(".snapshot")) == Seq("3.snapshot", "6.snapshot"))
      assert(deltas == (1 to 6))

      // 8 is the newest and 7 promised, which is loaded from 6; 3 is the spare.
      commit(7 to 8)
      parts.cleanup.run()
      assert(deltas == (3 to 8))
    }
  }
}

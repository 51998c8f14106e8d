package io.holdfast.provider

import org.apache.spark.sql.execution.streaming.state.StateStore
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{FileOperation, FileOperations, Provider, Put, TestStore}

/** What comes before what in a commit. */
class CommitOrderSuite extends AnyFunSuite {

  /** Asks something of a store when its delta is about to appear. */
  private final class AtTheFile(file: String) extends FileOperations {
    @volatile var store = Option.empty[StateStore]
    @volatile var answer = Option.empty[Throwable]

    override def around[A](operation: FileOperation)(proceed: => A): A = {
      if (operation == FileOperation(FileOperation.Finish, file)) {
        answer = store.flatMap { open =>
          try {
            Put("late", 1).applyTo(open)
            None
          } catch { case e: IllegalStateException => Some(e) }
        }
      }
      proceed
    }
  }

  test("all that the engine can fail at is done when the delta appears") {
    val finish = new AtTheFile("1.delta")
    TestStore.use(Provider().watched(finish)) { store =>
      val open = store.write(0)
      finish.store = Some(open)
      Put("a", 1).applyTo(open)
      open.commit()
      // The transaction is a version by then, with all compaction and allocation behind it.
      assert(finish.answer.exists(_.getMessage.contains("committed")))
      assert(store.counts(1) == Map("a" -> 1L))
    }
  }
}

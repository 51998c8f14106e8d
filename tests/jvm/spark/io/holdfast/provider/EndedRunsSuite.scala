package io.holdfast.provider

import java.util.UUID
import java.util.concurrent.atomic.AtomicLong

import scala.util.Using

import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.HoldfastStateStoreProvider
import io.holdfast.memory.MemoryLimitException
import io.holdfast.surroundings.{StoreActivity, Surroundings}
import io.holdfast.testkit.{Provider, Put, TestStore}

/** Spark keeps the stores of a run that is over until its next maintenance; a run that is started in
  * the meantime has the room of these.
  */
class EndedRunsSuite extends AnyFunSuite {
  import EndedRunsSuite._

  // They need most of the limit.
  private val limited = Provider(className = classOf[EndingProvider].getName)
    .inMemory(2)
    .set("spark.sql.streaming.stateStore.holdfast.memoryLimit" -> "16m")
  private val rows = (0 until 50000).map(n => Put(s"a $n", n.toLong, "n" * 100))

  /** Two stores of one executor, the first of which has the rows in memory. */
  private def filled(test: (TestStore, TestStore) => Any): Any =
    TestStore.use(limited) { first =>
      TestStore.use(limited) { second =>
        kept = Right(Set(first, second).map(_.root.toString))
        first.commit(0, rows: _*)
        test(first, second)
      }
    }

  test("nobody is refused for what a run that is over has in memory") {
    filled { (first, second) =>
      kept = Right(Set(second.root.toString))
      second.commit(0, rows: _*)
      assert(first.versionsInMemory.isEmpty)
      assert(second.versionsInMemory == Seq(1L))
      assert(second.counts(1).size == rows.size)
      second.close()
      assert(first.counts(1).size == rows.size)
    }
    assert(held.get == 0L)
  }

  test("what a run that goes on has in memory stays, and is in the way") {
    filled { (first, second) =>
      intercept[MemoryLimitException](second.commit(0, rows: _*))
      assert(first.versionsInMemory == Seq(1L))
    }
    assert(held.get == 0L)
  }

  test("a driver that does not answer says nothing of a run") {
    filled { (first, second) =>
      kept = Left(new IllegalStateException("no answer"))
      intercept[MemoryLimitException](second.commit(0, rows: _*))
      assert(first.versionsInMemory == Seq(1L))
    }
  }

  test("nobody is refused for what an earlier run of the query has in memory, kept or not") {
    TestStore.use(limited) { first =>
      kept = Right(Set(first.root.toString))
      first.commit(0, rows: _*)
      Using.resource(new TestStore(limited, first.root)) { next =>
        assert(next.counts(1).size == rows.size)
        assert(first.versionsInMemory.isEmpty)
        assert(next.versionsInMemory == Seq(1L))
        // What belongs to the later run is in the way of the earlier one.
        val _ = intercept[Exception](first.counts(1))
        assert(next.versionsInMemory == Seq(1L))
      }
    }
    assert(held.get == 0L)
  }

  test("who reads the store of a run that goes on is no later run") {
    filled { (first, second) =>
      Using.resource(new TestStore(limited, first.root)) { reader =>
        unheardOf = Set(runOf(reader))
        assert(reader.counts(0).isEmpty)
        intercept[MemoryLimitException](second.commit(0, rows: _*))
        assert(first.versionsInMemory == Seq(1L))
      }
    }
    assert(held.get == 0L)
  }

  test("what a task of a run that is over still reads counts until it is let go") {
    filled { (first, second) =>
      val reader = first.read(1)
      kept = Right(Set(second.root.toString))
      intercept[MemoryLimitException](second.commit(0, rows: _*))
      reader.abort()
      second.commit(0, rows: _*)
      assert(second.counts(1).size == rows.size)
    }
    assert(held.get == 0L)
  }
}

object EndedRunsSuite {
  private val held = new AtomicLong

  // The folders of stores whose runs go on, or why nobody knows.
  @volatile private var kept: Either[Exception, Set[String]] = Right(Set.empty)

  // Runs of whose stores nobody was told.
  @volatile private var unheardOf = Set.empty[UUID]

  private def runOf(store: TestStore): UUID = store.provider match {
    case provider: EndingProvider => provider.store.context.providerId.queryRunId
    case other => throw new IllegalArgumentException(s"no run of $other is known")
  }

  final class EndingProvider extends HoldfastStateStoreProvider {
    override private[holdfast] def surroundings: Surroundings =
      Surroundings.ofThisJvm.copy(heldBytes = held, activity = new Activity(_))
  }

  final private class Activity(id: StateStoreProviderId) extends StoreActivity {
    override def isKept: Boolean = isActive
    override def isActive: Boolean =
      kept.fold(throw _, _.contains(id.storeId.checkpointRootLocation)) &&
        !unheardOf(id.queryRunId)
    override def goesOn: Boolean = true
  }
}

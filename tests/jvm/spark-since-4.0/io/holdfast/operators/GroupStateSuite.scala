package io.holdfast.operators

import java.nio.file.{Files, Path}

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.testkit.Provider

/** Queries with `mapGroupsWithState` and `flatMapGroupsWithState` on Holdfast, whose driver is killed
  * when one of two partitions has written its state, beside the same on Spark's default provider:
  * every batch writes the same at last, and the state at the end is the same.
  */
@Slow
class GroupStateSuite extends AnyFunSuite with BeforeAndAfterAll {

  private val root: Path = Files.createTempDirectory("group-state")

  private var killed: Map[GroupStateQuery, Killed] = Map.empty

  override protected def beforeAll(): Unit = {
    Event.writeFiles(KilledDriver.inputs(root))
    GroupStateDriver.kill(KilledDriver.ToBeKilled, root)
    killed = GroupStateQuery.all.map { query =>
      val folder = new QueryFolder(root, query.name, Provider.Holdfast)
      query -> Killed.found(folder, query.killedIn)
    }.toMap
    GroupStateDriver.kill(KilledDriver.ToTheEnd, root)
  }

  GroupStateQuery.all.foreach { query =>
    test(query.name) {
      assert(killed(query) == Killed.expected(query.killedIn))

      val found = new QueryFolder(root, query.name, Provider.Holdfast)
      val expected = new QueryFolder(root, query.name, Provider.Spark)
      assert(found.batches == expected.batches)
      assert(expected.batches.values.exists(_.nonEmpty))
      assert(found.state == expected.state)
      assert(expected.state.nonEmpty)
    }
  }
}

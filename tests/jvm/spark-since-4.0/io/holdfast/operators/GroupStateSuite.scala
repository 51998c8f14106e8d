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
  import GroupStateSuite.Killed

  private val root: Path = Files.createTempDirectory("group-state")

  private var killed: Map[GroupStateQuery, Killed] = Map.empty

  override protected def beforeAll(): Unit = {
    Event.writeFiles(GroupStateDriver.inputs(root))
    drive(GroupStateDriver.ToBeKilled)
    killed = GroupStateQuery.all.map { query =>
      val folder = new QueryFolder(root, query.name, Provider.Holdfast)
      query -> Killed(
        folder.newest("offsets"),
        folder.newest("commits"),
        folder.partitionsWith(query.killedIn + 1))
    }.toMap
    drive(GroupStateDriver.ToTheEnd)
  }

  GroupStateQuery.all.foreach { query =>
    test(query.name) {
      assert(killed(query) == Killed(query.killedIn, query.killedIn - 1, partitions = Set(0)))

      val found = new QueryFolder(root, query.name, Provider.Holdfast)
      val expected = new QueryFolder(root, query.name, Provider.Spark)
      assert(found.batches == expected.batches)
      assert(expected.batches.values.exists(_.nonEmpty))
      assert(found.state == expected.state)
      assert(expected.state.nonEmpty)
    }
  }

  private def drive(stage: String): Unit = DriverProcess.killAt(
    GroupStateDriver.Arrived,
    GroupStateDriver.getClass.getName.stripSuffix("$"),
    root.resolve(s"$stage.log"),
    stage,
    root.toString)
}

object GroupStateSuite {

  /** Where a query was when its driver was killed: the newest batch that was planned and the newest
    * that was committed, and the partitions that had written the state of the former.
    */
  final case class Killed(planned: Long, committed: Long, partitions: Set[Int])
}

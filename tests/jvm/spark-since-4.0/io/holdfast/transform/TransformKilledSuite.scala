package io.holdfast.transform

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow
import org.scalatest.{BeforeAndAfterAll, Tag}

import io.holdfast.operators.{Killed, KilledDriver, QueryFolder}
import io.holdfast.query.Event
import io.holdfast.testkit.{FullOnly, Provider}

/** Some queries of each kind. */
@Slow
class TransformKilledSuite extends TransformKilled(TransformQuery.representative)

/** The others. */
class TransformKilledMoreSuite extends TransformKilled(TransformQuery.others, FullOnly)

/** Queries with `transformWithState` on Holdfast, whose driver is killed when one of two partitions has
  * written its state, beside the same on Spark's RocksDB provider that nobody kills: every batch writes
  * the same at last, and what the `statestore` source reads at the end is the same.
  */
abstract class TransformKilled(queries: Seq[TransformQuery], runs: Tag*)
    extends AnyFunSuite
    with BeforeAndAfterAll {
  import TransformKilled._

  private val root: Path = Files.createTempDirectory("transform-with-state")

  private val names = queries.map(_.name)

  private var killed: Map[TransformQuery, Killed] = Map.empty

  override protected def beforeAll(): Unit = {
    writeInputs(KilledDriver.inputs(root))
    TransformDriver.kill(KilledDriver.ToBeKilled, root, names: _*)
    killed = queries.map { query =>
      val folder = new QueryFolder(root, query.name, Provider.Holdfast)
      query -> Killed.found(folder, query.killedIn)
    }.toMap
    TransformDriver.kill(KilledDriver.ToTheEnd, root, names: _*)
  }

  queries.foreach { query =>
    test(query.name, runs: _*) {
      assert(killed(query) == Killed.expected(query.killedIn))

      val found = new QueryFolder(root, query.name, Provider.Holdfast)
      val expected = new QueryFolder(root, query.name, TransformDriver.RocksDB)
      assert(found.batches == expected.batches)
      assert(expected.batches.size >= Batches)
      assert(expected.batches.values.count(_.nonEmpty) > Batches / 2)
      if (query.isReadable) {
        assert(found.state == expected.state)
        assert(expected.state.nonEmpty)
      }
      val closed = expected.batches.values.flatten.exists(_.contains("closed at"))
      assert(closed == query.hasTimers)
    }
  }
}

private object TransformKilled {
  private val Batches = 6

  private def writeInputs(folder: Path): Unit = {
    Files.createDirectories(folder)
    (0 until Batches).foreach { batch =>
      val file = folder.resolve(s"$batch.json")
      // Every other name has no events for some batches, so that its time runs out.
      val events = Event.ofBatch(batch).filter { event =>
        event.name == null || batch < 2 || event.name.last % 2 == batch % 2
      }
      Files.write(file, events.map(json).asJava)
      // Spark reads the oldest file first.
      Files.setLastModifiedTime(file, FileTime.fromMillis(batch * 1000L))
    }
  }

  private def json(event: Event): String = {
    val name = Option(event.name).map(name => s""""name":"$name",""").getOrElse("")
    s"""{$name"at":"${event.at.toInstant}","amount":${event.amount},"note":"${event.note}"}"""
  }
}

package io.holdfast.provider

import java.util.concurrent.{ConcurrentLinkedQueue, Executor}

import scala.jdk.CollectionConverters._
import scala.util.{Random, Try}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.provider.CommitBesideSuite._
import io.holdfast.surroundings.Surroundings
import io.holdfast.testkit._

/** Deltas of large batches, which are written while rows are put: they hold what they would hold if the
  * commit wrote them, and nothing is left of those that come to nothing.
  */
@Slow
class EarlyDeltaSuite extends AnyFunSuite with SeededTests {
  import EarlyDeltaSuite._

  private def puts(keys: Range, count: Long): Seq[Change] =
    keys.map(n => Put(s"k$n", count, "n" * 40))

  private def after(before: TestRows.State, changes: Seq[Change]): TestRows.State =
    changes.foldLeft(before)((rows, change) => change.applyTo(rows))

  private val many = puts(0 until 5000, 1L)

  test("the delta is being written while rows are put, and appears with the commit") {
    val gate = new Gate(FileOperation.Write, "1.delta")
    committing(threads) {
      TestStore.use(beside.watched(gate)) { store =>
        val open = store.write(0)
        many.foreach(_.applyTo(open))
        gate.awaitArrival()
        gate.open()
        assert(!store.fileNames.contains("1.delta"))
        open.commit()
        assert(store.fileNames == Seq("1.delta"))
        assert(store.state(1) == after(Map.empty, many))
        assert(store.stateFromFiles(1, Provider.Spark) == after(Map.empty, many))
      }
    }
  }

  test("a batch that replaces what it wrote has its delta written by the commit") {
    val files = new Noted
    committing(threads) {
      TestStore.use(beside.watched(files)) { store =>
        store.commit(0, many: _*)
        val open = store.write(1)
        val changes =
          puts(0 until 3750, 2L) ++ puts(10 until 20, 3L) ++ puts(3750 until 4500, 2L)
        changes.foreach(_.applyTo(open))
        assert(files.of("2.delta") == Seq(FileOperation.Create, FileOperation.Cancel))
        open.commit()
        assert(
          files.of("2.delta") == Seq(
            FileOperation.Create,
            FileOperation.Cancel,
            FileOperation.Create,
            FileOperation.Finish))
        val expected = after(after(Map.empty, many), changes)
        assert(store.state(2) == expected)
        assert(store.stateFromFiles(2, Provider.Spark) == expected)
      }
    }
  }

  for ((what, last) <- Seq("replaces" -> Put("k7", 3L), "removes" -> Remove("k7")))
    test(s"a key that is in the base, and whose row the last change $what, has one record") {
      committing(threads) {
        TestStore.use(beside) { store =>
          store.commit(0, many: _*)
          // What is collected for the index comes into it with the commit.
          val changes = puts(0 until 3750, 2L) :+ last
          store.commit(1, changes: _*)
          val records = StateFileBytes.records("lz4", store.bytes("2.delta"))
          assert(records.map(_.key).distinct.size == records.size)
          assert(records.size == 3750)
          val expected = after(after(Map.empty, many), changes)
          assert(store.state(2) == expected)
          assert(store.stateFromFiles(2, Provider.Spark) == expected)
        }
      }
    }

  test("a new key whose row the last change removes has no record") {
    committing(threads) {
      TestStore.use(beside) { store =>
        store.commit(0, many: _*)
        val changes = puts(5000 until 9000, 2L) :+ Remove("k5007")
        store.commit(1, changes: _*)
        assert(StateFileBytes.records("lz4", store.bytes("2.delta")).size == 3999)
        assert(store.stateFromFiles(2, Provider.Spark) == after(after(Map.empty, many), changes))
      }
    }
  }

  for ((who, executor) <- Seq("another thread" -> threads, "nobody" -> refusing)) {
    test(s"an abort leaves nothing of a delta that $who writes") {
      val files = new Noted
      committing(executor) {
        TestStore.use(beside.watched(files)) { store =>
          store.commit(0, many: _*)
          val open = store.write(1)
          puts(0 until 3750, 2L).foreach(_.applyTo(open))
          open.abort()
          assert(files.of("2.delta") == Seq(FileOperation.Create, FileOperation.Cancel))
          assert(store.files.keySet.filter(_.contains("2.delta")) == Set.empty)
          assert(store.state(1) == after(Map.empty, many))
          store.commit(1, puts(0 until 5, 3L): _*)
          assert(store.state(2) == after(after(Map.empty, many), puts(0 until 5, 3L)))
        }
      }
    }
  }

  for ((who, executor) <- Seq("another thread" -> threads, "the task" -> refusing))
    for (when <- Seq(FaultAt.InItsPlace, FaultAt.AfterIt))
      test(s"every file operation of a batch fails ($when), while $who writes its delta") {
        committing(executor) {
          def batch(store: TestStore): Unit = {
            store.commit(1, puts(1250 until 6250, 2L): _*)
            ()
          }
          val before = after(Map.empty, many)
          val expected = after(before, puts(1250 until 6250, 2L))
          val faultless = new FaultAt(Int.MaxValue, when)
          val begun = withFault(faultless) { store =>
            val count = faultless.count
            batch(store)
            count
          }
          assert(faultless.count - begun > 5)
          (begun until faultless.count).foreach { number =>
            val fault = new FaultAt(number, when)
            withFault(fault) { store =>
              val made = Try(batch(store))
              assert(fault.failedOperation.isDefined)
              assert(store.state(1) == before)
              // What fails before anything is written is tried again by the commit.
              if (made.isSuccess) {
                assert(store.state(2) == expected)
                assert(store.stateFromFiles(2, Provider.Spark) == expected)
              }
              batch(store)
              assert(store.state(2) == expected)
              assert(store.stateFromFiles(2, Provider.Spark) == expected)
              assert(store.fileNames == Seq("1.delta", "2.delta"))
            }
          }
        }
      }

  test("a thread that cannot be asked for is no matter, whatever the executor says") {
    val broken: Executor = _ => throw new IllegalStateException("this executor is broken")
    committing(broken) {
      TestStore.use(Provider().by(classOf[LateProvider].getName)) { store =>
        val open = store.write(0)
        many.foreach(_.applyTo(open))
        open.commit()
        assert(store.state(1) == after(Map.empty, many))
        assert(store.stateFromFiles(1, Provider.Spark) == after(Map.empty, many))
        assert(store.files.keySet.map(_.stripPrefix(".").stripSuffix(".crc")) == Set("1.delta"))
      }
    }
  }

  test("a store whose delta cannot be given up holds no memory, and no file manager") {
    committing(refusing) {
      val held = Surroundings.HeldInThisJvm
      val before = held.get
      TestStore.use(beside.watched(new Uncancelled)) { store =>
        val open = store.write(0)
        many.foreach(_.applyTo(open))
        assert(held.get > before)
        intercept[OutOfMemoryError](open.abort())
        assert(held.get == before)
      }
    }
  }

  seeded("batches of all kinds are what they are on Spark's provider") { random =>
    Seq(threads, atOnce, refusing).foreach { executor =>
      committing(executor) {
        TestStore.use(beside.codec(if (random.nextBoolean()) "lz4" else "zstd")) { store =>
          var state = Map.empty: TestRows.State
          (0 until 6).foreach { version =>
            val open = store.write(version.toLong)
            val changes = batch(random)
            changes.foreach(_.applyTo(open))
            if (random.nextInt(4) == 0) {
              open.abort()
              store.commit(version.toLong, changes: _*)
            } else open.commit()
            state = after(state, changes)
            assert(store.state(version + 1L) == state)
            assert(!store.files.keySet.exists(_.contains(".tmp")))
          }
          assert(store.stateFromFiles(6, Provider.Spark) == state)
          store.reopen()
          assert(store.state(6) == state)
        }
      }
    }
  }

  // Many or few changes; each key once or some again; with removals or without.
  private def batch(random: Random): Seq[Change] = {
    val count = if (random.nextBoolean()) 12000 else random.nextInt(3000)
    val keys = random.shuffle((0 until 30000).toVector).take(count)
    val removes = if (random.nextBoolean()) 0 else 1 + random.nextInt(3)
    val once = keys.map { key =>
      if (random.nextInt(4) < removes) Remove(s"k$key")
      else Put(s"k$key", random.nextInt(1000).toLong, "v" * random.nextInt(60))
    }
    if (random.nextBoolean()) once
    else once ++ keys.take(1 + random.nextInt(20)).map(key => Put(s"k$key", -1L, "again"))
  }

  private def withFault[A](fault: FaultAt)(body: TestStore => A): A =
    TestStore.use(beside.watched(fault)) { store =>
      store.commit(0, many: _*)
      body(store)
    }
}

object EarlyDeltaSuite {

  /** A provider that begins a delta early when some pages are filled. */
  final class LateProvider extends HelpedProvider(worthFrom = 128L << 10)

  /** Files that cannot be given up. */
  private final class Uncancelled extends FileOperations {
    override def around[A](operation: FileOperation)(proceed: => A): A = {
      val done = proceed
      if (operation.kind == FileOperation.Cancel) throw new OutOfMemoryError("injected")
      done
    }
  }

  /** Notes what happens to files, but for what is written to them. */
  private final class Noted extends FileOperations {
    private val seen = new ConcurrentLinkedQueue[FileOperation]

    def of(file: String): Seq[FileOperation.Kind] = seen.asScala.toSeq.collect {
      case FileOperation(
            kind @ (FileOperation.Create | FileOperation.Cancel | FileOperation.Finish),
            `file`) =>
        kind
    }

    override def around[A](operation: FileOperation)(proceed: => A): A = {
      seen.add(operation)
      proceed
    }
  }
}

package io.holdfast.provider

import java.util.concurrent.{
  ConcurrentLinkedQueue,
  CountDownLatch,
  Executor,
  RejectedExecutionException
}

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.HoldfastStateStoreProvider
import io.holdfast.surroundings.{Beside, Clock, Surroundings}
import io.holdfast.testkit._

/** Commits whose changes another thread writes while the task makes the version: they are what they are
  * without that thread, and so are their failures.
  */
@Slow
class CommitBesideSuite extends AnyFunSuite {
  import CommitBesideSuite._

  private val keys = 20000

  // Batches that change rows all over the store, so that rows move; some change a key again.
  private def batch(number: Int): Seq[Change] = {
    val random = new Random(number)
    if (number == 0) (0 until keys).map(n => Put(s"k$n", n.toLong, "n" * 40))
    else
      (1 to 4000).map { n =>
        val name = s"k${if (number % 2 == 0) n * 5 else random.nextInt(keys + 500)}"
        if (random.nextInt(5) < number % 5) Remove(name) else Put(name, number.toLong, "m" * 40)
      }
  }

  private def history(settings: Provider): Map[String, Seq[Byte]] = TestStore.use(settings) {
    store =>
      var state = Map.empty: TestRows.State
      var moved = 0L
      (0 until 10).foreach { number =>
        val open = store.write(number.toLong)
        val changes = batch(number)
        changes.foreach(_.applyTo(open))
        open.commit()
        moved += CustomMetrics.of(open.metrics).getOrElse("holdfastRelocatedBytes", 0L)
        state = changes.foldLeft(state)((rows, change) => change.applyTo(rows))
        assert(store.state(number + 1L) == state)
      }
      if (settings.className == beside.className) assert(moved > 0L)
      store.reopen()
      assert(store.state(10L) == state)
      store.files.filter(_._1.endsWith(".delta"))
  }

  for (checksums <- Seq(false, true); codec <- Seq("lz4", "zstd")) {
    test(s"files are the same, whoever writes the changes ($codec, row checksums $checksums)") {
      val settings = beside.codec(codec).rowChecksums(checksums)
      val byTask = committing(refusing)(history(settings))
      assert(byTask.size == 10)
      Seq(threads, (_ => ()): Executor, atOnce).foreach { executor =>
        assert(committing(executor)(history(settings)) == byTask)
      }
      assert(history(settings.by(Provider.Holdfast)) == byTask)
    }
  }

  test("the task's thread waits for changes that are still being written") {
    val gate = new Gate(FileOperation.Write, "1.delta")
    committing(threads) {
      TestStore.use(beside.watched(gate)) { store =>
        val committing = new Background(store.commit(0, batch(0): _*))
        gate.awaitArrival()
        assert(store.fileNames.forall(!_.endsWith("1.delta")))
        gate.open()
        committing.result()
        assert(store.state(1).size == keys)
      }
    }
  }

  test("a task that is killed meanwhile leaves no file, and nobody who writes to one") {
    val files = new Interruptible("2.delta")
    committing(threads) {
      TestStore.use(beside.watched(files)) { store =>
        store.commit(0, batch(0): _*)
        val before = store.state(1)
        val open = store.write(1)
        batch(2).foreach(_.applyTo(open))
        // Else the task writes itself.
        files.awaitWrite()
        @volatile var task: Thread = null
        val killed = new Background({
          task = Thread.currentThread
          open.commit()
        })
        killed.awaitWaiting()
        task.interrupt()
        val e = intercept[Exception](killed.result())
        assert(causes(e).exists(_.isInstanceOf[InterruptedException]), e)
        // What was written to was given up after that and not before.
        assert(files.order == Seq("write begins", "write ends", "cancel"))
        open.abort()
        assert(store.fileNames == Seq("1.delta"))
        assert(store.state(1) == before)
        store.commit(1, batch(2): _*)
        assert(store.state(2) == batch(2).foldLeft(before)((rows, next) => next.applyTo(rows)))
      }
    }
  }
}

object CommitBesideSuite {
  val threads: Executor = work => new Thread(work, "committer").start()
  val atOnce: Executor = work => work.run()
  val refusing: Executor = _ => throw new RejectedExecutionException("all are busy")

  @volatile private var executor: Executor = refusing

  /** A provider of which another thread is asked to write so many bytes of changes, or more. */
  abstract class HelpedProvider(worthFrom: Long) extends HoldfastStateStoreProvider {
    override private[holdfast] def surroundings: Surroundings =
      Surroundings(
        Clock.OfThisMachine,
        atOnce,
        atOnce,
        new Beside(executor, worthFrom),
        CheckpointFileManager.create)
  }

  /** It is asked at every commit. */
  final class BesideProvider extends HelpedProvider(worthFrom = 0L)

  /** Stores whose commits have an executor that writes changes. */
  def committing[A](by: Executor)(body: => A): A = {
    executor = by
    body
  }

  val beside: Provider = Provider().by(classOf[BesideProvider].getName)

  private def causes(e: Throwable): Iterator[Throwable] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null)

  /** Holds up the first write of a file until it is interrupted, and takes notice of what comes when. */
  private final class Interruptible(file: String) extends FileOperations {
    private val reached = new CountDownLatch(1)
    private val seen = new ConcurrentLinkedQueue[String]

    override def around[A](operation: FileOperation)(proceed: => A): A = {
      if (operation == FileOperation(FileOperation.Write, file) && reached.getCount > 0) {
        note("write begins")
        reached.countDown()
        try Gate.await(new CountDownLatch(1), "nobody interrupted the write")
        finally note("write ends")
      } else if (operation == FileOperation(FileOperation.Cancel, file)) note("cancel")
      proceed
    }

    private def note(what: String): Unit = {
      val _ = seen.add(what)
    }

    def awaitWrite(): Unit = Gate.await(reached, "nothing was written")

    def order: Seq[String] = seen.asScala.toSeq
  }
}

package io.holdfast.surroundings

import java.util.concurrent.{
  ConcurrentLinkedQueue,
  CountDownLatch,
  Executor,
  LinkedBlockingQueue,
  RejectedExecutionException,
  TimeUnit
}
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Background, HandExecutor}

/** Two parts of a task's work at the same time: who does the other one, and what becomes of failures. */
class BesideSuite extends AnyFunSuite {
  import BesideSuite._

  private def threads: Executor = work => new Thread(work, "other").start()

  private def none: Executor = _ => throw new RejectedExecutionException("all are busy")

  private def noMore: Executor = _ => throw new OutOfMemoryError("unable to create native thread")

  private def atOnce: Executor = work => work.run()

  test("what is large enough is done by both threads, and what comes of it is seen") {
    val done = new Array[String](1)
    val otherIsThere, ownIsThere = new CountDownLatch(1)
    val made = new Beside(threads, 10L).both(10L) { () =>
      otherIsThere.countDown()
      assert(Latches.await(ownIsThere))
      done(0) = Thread.currentThread.getName
    } {
      ownIsThere.countDown()
      assert(Latches.await(otherIsThere))
      7
    }
    assert(made == 7)
    assert(done(0) == "other")
  }

  test("less is done by the thread that asks, and nobody else is asked") {
    val doneBy = onlyOnce(_ => fail("a thread was asked"), worthFrom = 10L, size = 9L)
    assert(doneBy eq Thread.currentThread)
  }

  test("without a thread the one that asks does it") {
    Seq(none, noMore).foreach { executor =>
      assert(onlyOnce(executor) eq Thread.currentThread)
    }
  }

  test("what no thread has begun is done by the one that asks, and by no other afterwards") {
    assert(onlyOnce(new HandExecutor) eq Thread.currentThread)
    assert(onlyOnce(atOnce) eq Thread.currentThread)
  }

  // Who did the other part, which is to be done once and before `both` returns.
  private def onlyOnce(executor: Executor, worthFrom: Long = 0L, size: Long = 1L): Thread = {
    val times = new AtomicInteger
    @volatile var doneBy: Thread = null
    assert(new Beside(executor, worthFrom).both(size) { () =>
      doneBy = Thread.currentThread
      times.incrementAndGet()
      ()
    }("made") == "made")
    executor match {
      case late: HandExecutor =>
        assert(late.waiting == 1)
        late.run()
      case _ =>
    }
    assert(times.get == 1)
    doneBy
  }

  test("a failure of the other part is told when the own one is done") {
    Seq(threads, none, new HandExecutor, atOnce).foreach { executor =>
      var made = false
      val e = intercept[Broken](new Beside(executor, 0L).both(1L)(() => throw new Broken("other")) {
        made = true
      })
      assert(e.getMessage == "other")
      assert(e.getSuppressed.isEmpty)
      // One that failed before was told already; the own part need not come to its end for that.
      assert(made)
    }
  }

  test("what was not begun when the own part failed is never done") {
    val late = new HandExecutor
    var done = false
    val e = intercept[Broken](new Beside(late, 0L).both(1L)(() => done = true)(broken("own")))
    assert(e.getMessage == "own")
    late.run()
    assert(!done)
  }

  test("the failure that came first is told, with the other one") {
    val first = intercept[Broken](
      new Beside(atOnce, 0L).both(1L)(() => throw new Broken("other"))(broken("own")))
    assert(first.getMessage == "other")
    assertSuppressed(first, "own")

    val begun = new CountDownLatch(1)
    val caller = Thread.currentThread
    val second = intercept[Broken](new Beside(threads, 0L).both(1L) { () =>
      begun.countDown()
      Latches.awaitWaiting(caller)
      throw new Broken("other")
    } {
      assert(Latches.await(begun))
      broken("own")
    })
    assert(second.getMessage == "own")
    assertSuppressed(second, "other")
  }

  test("one failure that both parts have is told alone") {
    val same = new Broken("same")
    assert(intercept[Broken](new Beside(atOnce, 0L).both(1L)(() => throw same)(throw same)) eq same)
    assert(same.getSuppressed.isEmpty)
  }

  test("nothing of the other part happens any more when the failure of the own one is told") {
    val begun = new CountDownLatch(1)
    val caller = Thread.currentThread
    @volatile var isAtIt = false
    @volatile var isTold = false
    intercept[Broken](new Beside(threads, 0L).both(1L) { () =>
      isAtIt = true
      begun.countDown()
      // As long as nobody waits for it, and after that no longer.
      while (caller.getState != Thread.State.WAITING && !isTold) Thread.onSpinWait()
      isAtIt = false
    } {
      assert(Latches.await(begun))
      broken("own")
    })
    val wasAtIt = isAtIt
    isTold = true
    assert(!wasAtIt)
  }

  test("a thread that is interrupted while it waits gives the other part up, and says so") {
    val begun = new CountDownLatch(1)
    @volatile var wasInterrupted = false
    @volatile var waiting: Thread = null
    val killed = new Background({
      waiting = Thread.currentThread
      new Beside(threads, 0L).both(1L) { () =>
        begun.countDown()
        try new CountDownLatch(1).await()
        catch {
          case e: InterruptedException =>
            wasInterrupted = true
            throw e
        }
      }(())
    })
    assert(Latches.await(begun))
    waiting.interrupt()
    intercept[InterruptedException](killed.result())
    assert(wasInterrupted)
  }

  test("a thread whose work was given up begins the next one without an interrupt") {
    val todo = new LinkedBlockingQueue[Runnable]
    val worker = new Background({
      todo.take().run()
      Thread.interrupted()
    })
    val begun = new CountDownLatch(1)
    @volatile var waiting: Thread = null
    val killed = new Background({
      waiting = Thread.currentThread
      new Beside(todo.put(_), 0L).both(1L) { () =>
        begun.countDown()
        Latches.awaitInterrupt()
      } {
        // Else this thread does the other part itself.
        assert(Latches.await(begun))
      }
    })
    assert(Latches.await(begun))
    waiting.interrupt()
    intercept[InterruptedException](killed.result())
    assert(!worker.result())
  }

  test("parts of a line are done in their order, one at a time, whoever does them") {
    Seq(threads, none, noMore, new HandExecutor, atOnce).foreach { executor =>
      val line = new Beside(executor, 0L).newLine()
      val done = new ConcurrentLinkedQueue[Int]
      val underWay, most = new AtomicInteger
      def part(number: Int): Unit = {
        most.accumulateAndGet(underWay.incrementAndGet(), math.max(_, _))
        done.add(number)
        underWay.decrementAndGet()
        ()
      }
      (1 until 200).foreach(number => line.add(() => part(number)))
      assert(line.endWith(() => part(200))("made") == "made")
      assert(done.asScala.toSeq == (1 to 200))
      assert(most.get == 1)
    }
  }

  test("a line asks for another thread when the one that it had has gone") {
    val asked = new LinkedBlockingQueue[Runnable]
    val line = new Beside(asked.put(_), 0L).newLine()
    var done = Vector.empty[Int]
    line.add(() => done :+= 1)
    line.add(() => done :+= 2)
    assert(asked.size == 1)
    asked.take().run()
    assert(done == Vector(1, 2))
    line.add(() => done :+= 3)
    assert(asked.size == 1)
    line.endWith(() => done :+= 4)(())
    assert(done == Vector(1, 2, 3, 4))
    // It comes too late.
    asked.take().run()
    assert(asked.isEmpty && done.size == 4)
  }

  test("after a part that fails no other of the line is done, and its failure is told") {
    Seq(threads, none, new HandExecutor, atOnce).foreach { executor =>
      val line = new Beside(executor, 0L).newLine()
      val done = new ConcurrentLinkedQueue[Int]
      line.add { () => done.add(1); () }
      line.add(() => broken("second"))
      line.add { () => done.add(3); () }
      var made = false
      val e = intercept[Broken](line.endWith { () => done.add(4); () } { made = true })
      assert(e.getMessage == "second")
      assert(made)
      assert(done.asScala.toSeq == Seq(1))
    }
  }

  test("of a line that is given up nothing is done any more, and what is under way has ended") {
    val begun = new CountDownLatch(1)
    val caller = Thread.currentThread
    @volatile var ended = false
    val line = new Beside(threads, 0L).newLine()
    val done = new AtomicInteger
    line.add { () =>
      begun.countDown()
      Latches.awaitWaiting(caller)
      // What is written through may take an interrupt badly.
      ended = !Thread.currentThread.isInterrupted
    }
    line.add { () => done.incrementAndGet(); () }
    assert(Latches.await(begun))
    line.giveUp()
    assert(ended)
    line.giveUp()
    line.add { () => done.incrementAndGet(); () }
    assert(done.get == 0)
  }

  test("who is interrupted while a line is given up hands that on, and keeps it") {
    val begun = new CountDownLatch(1)
    @volatile var wasInterrupted = false
    @volatile var giving: Thread = null
    val line = new Beside(threads, 0L).newLine()
    line.add { () =>
      begun.countDown()
      Latches.awaitInterrupt()
      wasInterrupted = true
    }
    assert(Latches.await(begun))
    val giver = new Background({
      giving = Thread.currentThread
      line.giveUp()
      Thread.interrupted()
    })
    giver.awaitWaiting()
    giving.interrupt()
    assert(giver.result())
    assert(wasInterrupted)
  }

  private def assertSuppressed(e: Throwable, message: String): Assertion =
    assert(e.getSuppressed.map(_.getMessage).toSeq == Seq(message))
}

object BesideSuite {
  private final class Broken(message: String) extends RuntimeException(message)

  private def broken(message: String): Nothing = throw new Broken(message)

  private object Latches {
    def await(latch: CountDownLatch): Boolean = latch.await(120, TimeUnit.SECONDS)

    /** Returns when a thread waits for another. */
    def awaitWaiting(thread: Thread): Unit =
      while (thread.getState != Thread.State.WAITING) Thread.onSpinWait()

    /** Returns when this thread is interrupted, and leaves it so. */
    def awaitInterrupt(): Unit =
      try new CountDownLatch(1).await()
      catch { case _: InterruptedException => Thread.currentThread.interrupt() }
  }
}

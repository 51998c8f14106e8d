package io.holdfast.surroundings

import java.util.ArrayDeque
import java.util.concurrent.Executor
import javax.annotation.concurrent.GuardedBy

import scala.annotation.tailrec
import scala.util.control.NonFatal

/** Lets parts of a task's work go on at the same time, if there is a thread for the others. Any thread
  * may call.
  *
  * @param threads
  *   run the other parts; late, or not at all, is as good: what nobody has begun when the task's own part
  *   is done, the task does itself
  * @param worthFrom
  *   how much there has to be to do for another thread to be asked
  */
final private[holdfast] class Beside(threads: Executor, worthFrom: Long) {

  /** Whether there is so much to do that another thread should do it. */
  def isWorth(size: Long): Boolean = size >= worthFrom

  /** Does both parts, which must not depend on each other, and returns when both are done. If one
    * fails, or the thread is interrupted while it waits, this fails when nobody does anything of either
    * any more. An interrupt is handed on to the other part's thread; a failure is not, for what it writes
    * through may take an interrupt badly (lzf with threads of its own never closes after one, Spark 4.0 on).
    *
    * @param size
    *   how much there is to do
    * @param other
    *   what another thread may do. It sees all that was done before this call, and whoever called sees
    *   all that it did
    * @param own
    *   what this thread does
    * @return
    *   what came of the own part
    * @throws java.lang.Throwable
    *   the failure that came first, with the other one suppressed
    */
  def both[A](size: Long)(other: () => Unit)(own: => A): A =
    if (isWorth(size)) newLine().endWith(other)(own)
    else {
      other()
      own
    }

  /** A line for parts that come one after the other. */
  def newLine(): Beside.Line = new Beside.Line(threads)
}

private[holdfast] object Beside {

  /** Parts of a task's work that are done in the order in which they come, one at a time, by whichever
    * thread there is. Each sees what those before it did. After one that fails no other is done. For one
    * thread.
    */
  final class Line private[Beside] (threads: Executor) {
    @GuardedBy("this") private[this] val todo = new ArrayDeque[() => Unit]

    // Whether one of the threads will come.
    @GuardedBy("this") private[this] var isExpected = false

    // Who does some of it now, or null.
    @GuardedBy("this") private[this] var runner: Thread = null
    @GuardedBy("this") private[this] var isGivenUp = false
    @GuardedBy("this") private[this] var failure: Throwable = null

    /** Adds a part, which sees all that was done before this call. */
    def add(part: () => Unit): Unit = if (enqueue(part)) offer()

    /** Adds the last part and returns when it and the own one are done, as [[Beside.both]] does. */
    def endWith[A](last: () => Unit)(own: => A): A =
      try {
        add(last)
        val made = own
        finish()
        made
      } catch {
        case e: Throwable => throw givenUp(e)
      }

    /** Makes sure that nobody does anything of it any more: waits for the part that is under way, whose
      * thread is interrupted if this one is. Idempotent.
      */
    def giveUp(): Unit = {
      synchronized {
        isGivenUp = true
        todo.clear()
      }
      awaitEnd()
    }

    // Whether a thread has to be asked.
    private[this] def enqueue(part: () => Unit): Boolean = synchronized {
      if (isGivenUp || failure != null) false
      else {
        todo.add(part)
        val asks = runner == null && !isExpected
        isExpected ||= asks
        asks
      }
    }

    private[this] def offer(): Unit =
      try threads.execute(() => run())
      catch {
        // Whatever is in the way: that there are no more threads is an OutOfMemoryError.
        case e: Throwable if NonFatal(e) || e.isInstanceOf[OutOfMemoryError] =>
          synchronized { isExpected = false }
      }

    private[this] def run(): Unit = if (begin()) work()

    private[this] def begin(): Boolean = synchronized {
      isExpected = false
      val begins = runner == null && !isGivenUp
      if (begins) runner = Thread.currentThread
      begins
    }

    @tailrec
    private[this] def work(): Unit = {
      val part = next()
      if (part != null) {
        try part()
        catch { case e: Throwable => synchronized { failure = e } }
        work()
      }
    }

    // What is to be done next, or null when the runner is to go. What its thread does after that is not
    // what was interrupted.
    private[this] def next(): () => Unit = synchronized {
      val part = if (failure == null) todo.poll() else null
      if (part == null) {
        if (isGivenUp) { val _ = Thread.interrupted() }
        runner = null
        notifyAll()
      }
      part
    }

    // Does what nobody has begun, and waits for who has.
    private[this] def finish(): Unit = {
      synchronized {
        // An interrupt that comes when nothing is to be waited for is for what comes next.
        while (runner != null) wait()
        runner = Thread.currentThread
      }
      work()
      val failed = synchronized(failure)
      if (failed != null) throw failed
    }

    // What is to be told: this failure, or the one of a part that had failed before.
    private[this] def givenUp(e: Throwable): Throwable = {
      val before = synchronized(failure)
      if (e.isInstanceOf[InterruptedException]) interrupt()
      giveUp()
      if (before == null) telling(e, synchronized(failure)) else telling(before, e)
    }

    private[this] def awaitEnd(): Unit = {
      var interrupted = false
      synchronized {
        while (runner != null) {
          try wait()
          catch {
            case _: InterruptedException =>
              interrupted = true
              interrupt()
          }
        }
      }
      if (interrupted) Thread.currentThread.interrupt()
    }

    private[this] def interrupt(): Unit = synchronized {
      isGivenUp = true
      if (runner != null) runner.interrupt()
    }

    private[this] def telling(first: Throwable, second: Throwable): Throwable = {
      if (second != null && (second ne first)) first.addSuppressed(second)
      first
    }
  }
}

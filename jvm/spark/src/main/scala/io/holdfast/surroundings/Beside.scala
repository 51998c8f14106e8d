package io.holdfast.surroundings

import java.util.concurrent.{CountDownLatch, Executor, RejectedExecutionException}
import java.util.concurrent.atomic.AtomicBoolean
import javax.annotation.concurrent.GuardedBy

/** Lets two parts of a task's work go on at the same time, if there is a thread for the other one. Any
  * thread may call.
  *
  * @param threads
  *   run the other part; late, or not at all, is as good: what nobody has begun when the task's own part
  *   is done, the task does itself
  * @param worthFrom
  *   how much there has to be to do for another thread to be asked
  */
final private[holdfast] class Beside(threads: Executor, worthFrom: Long) {

  /** Does both parts, which must not depend on each other, and returns when both are done. If one
    * fails, or the thread is interrupted while it waits, this fails when nobody does anything of either
    * any more. The other part's thread is interrupted then.
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
    if (size < worthFrom) {
      other()
      own
    } else {
      val part = new Beside.OtherPart(other)
      try {
        offer(part)
        val made = own
        part.finish()
        made
      } catch {
        case e: Throwable => throw part.givenUp(e)
      }
    }

  private def offer(part: Runnable): Unit =
    try threads.execute(part)
    catch {
      // That there are no more threads is an OutOfMemoryError.
      case _: RejectedExecutionException | _: OutOfMemoryError =>
    }
}

private object Beside {

  /** Is done by the thread that begins it first, or by none. */
  private final class OtherPart(work: () => Unit) extends Runnable {
    private val begun = new AtomicBoolean
    private val ended = new CountDownLatch(1)

    // Forgotten when it is done: the queue of an executor keeps this for longer.
    private var todo = work

    @GuardedBy("this") private var runner: Thread = null
    @GuardedBy("this") private var abandoned = false
    @volatile private var failure: Throwable = null

    override def run(): Unit = if (begun.compareAndSet(false, true)) {
      try if (enter()) todo()
      catch { case e: Throwable => failure = e }
      finally {
        todo = null
        leave()
        ended.countDown()
      }
    }

    /** Does it if nobody has begun, and waits for who has. */
    def finish(): Unit = {
      run()
      // An interrupt that comes when nothing is to be waited for is for what comes next.
      if (ended.getCount > 0) ended.await()
      if (failure != null) throw failure
    }

    /** Makes sure that nobody does anything of it any more.
      *
      * @return
      *   what is to be told: this failure, or the one of this part if it had failed before
      */
    def givenUp(e: Throwable): Throwable = {
      val before = failure
      if (begun.compareAndSet(false, true)) {
        todo = null
        e
      } else {
        interrupt()
        awaitEnd()
        if (before == null) telling(e, failure) else telling(before, e)
      }
    }

    private def enter(): Boolean = synchronized {
      if (!abandoned) runner = Thread.currentThread
      !abandoned
    }

    // What the thread does next is not what was interrupted.
    private def leave(): Unit = synchronized {
      if (abandoned && runner != null) { val _ = Thread.interrupted() }
      runner = null
    }

    private def interrupt(): Unit = synchronized {
      abandoned = true
      if (runner != null) runner.interrupt()
    }

    private def awaitEnd(): Unit = {
      var interrupted = false
      while (ended.getCount > 0) {
        try ended.await()
        catch { case _: InterruptedException => interrupted = true }
      }
      if (interrupted) Thread.currentThread.interrupt()
    }

    private def telling(first: Throwable, second: Throwable): Throwable = {
      if (second != null && (second ne first)) first.addSuppressed(second)
      first
    }
  }
}

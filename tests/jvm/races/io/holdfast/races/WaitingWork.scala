package io.holdfast.races

import java.util.concurrent.{ConcurrentLinkedQueue, Executor}

/** Work that is done by whoever comes for it: the threads of an executor are those that Lincheck has. Any
  * thread may give and take.
  */
final class WaitingWork extends Executor {
  private val queue = new ConcurrentLinkedQueue[Runnable]

  override def execute(work: Runnable): Unit = {
    val _ = queue.add(work)
  }

  /** Does what came first, if anything waits. */
  def takeOne(): Unit = Option(queue.poll()).foreach(_.run())

  /** Does all that waits. */
  def takeAll(): Unit = while (!queue.isEmpty) takeOne()
}

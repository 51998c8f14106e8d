package io.holdfast.testkit

import java.util.concurrent.{ConcurrentLinkedQueue, Executor}

/** Work that is done when a test says so, in its thread. Any thread may give some. */
final class HandExecutor extends Executor {
  private val todo = new ConcurrentLinkedQueue[Runnable]

  override def execute(work: Runnable): Unit = {
    todo.add(work)
    ()
  }

  /** How much is still to do. */
  def waiting: Int = todo.size

  /** Does what was given until now, in order. */
  def run(): Unit = while (!todo.isEmpty) todo.poll().run()
}

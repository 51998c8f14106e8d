package io.holdfast.testkit

import java.util.concurrent.{ExecutionException, FutureTask, TimeUnit}

/** Something that runs in a thread of its own. */
final class Background[A](body: => A) {
  private val task = new FutureTask[A](() => body)
  private val thread = new Thread(task, "background")
  thread.setDaemon(true)
  thread.start()

  /** Returns when it waits for somebody, or is over. */
  def awaitWaiting(): Unit =
    while (thread.getState != Thread.State.WAITING && !task.isDone) Thread.onSpinWait()

  def interrupt(): Unit = thread.interrupt()

  /** What came of it; its error if it failed. */
  def result(): A =
    try task.get(120, TimeUnit.SECONDS)
    catch { case e: ExecutionException => throw e.getCause }
}

package io.holdfast.testkit

import java.util.concurrent.atomic.AtomicInteger

/** Counts the file operations of some kind. */
final class CountOperations(counted: FileOperation => Boolean) extends FileOperations {
  private val done = new AtomicInteger

  def count: Int = done.get

  override def around[A](operation: FileOperation)(proceed: => A): A = {
    if (counted(operation)) done.incrementAndGet()
    proceed
  }
}

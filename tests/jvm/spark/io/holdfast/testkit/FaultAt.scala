package io.holdfast.testkit

import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Try

/** Makes one file operation fail.
  *
  * @param number
  *   which one it is of those since [[arm]], from 0
  * @param when
  *   whether it fails in its place or after it was carried out
  */
final class FaultAt(number: Int, when: FaultAt.When) extends FileOperations {
  private val done = new AtomicInteger
  @volatile private var failed = Option.empty[FileOperation]

  /** How many operations there have been. */
  def count: Int = done.get

  /** The operation that failed, if it was reached. */
  def failedOperation: Option[FileOperation] = failed

  override def around[A](operation: FileOperation)(proceed: => A): A =
    if (done.getAndIncrement() != number) proceed
    else {
      failed = Some(operation)
      // Whatever it has come to, nobody hears of it.
      if (when == FaultAt.AfterIt) { val _ = Try(proceed) }
      throw new FaultAt.Fault(operation)
    }
}

object FaultAt {
  sealed trait When
  case object InItsPlace extends When

  /** As when a file system does what it is asked to, and its answer is lost. */
  case object AfterIt extends When

  final class Fault(operation: FileOperation) extends IOException(s"injected at $operation")
}

package io.holdfast.snapshots

import java.util.concurrent.Executor
import javax.annotation.concurrent.GuardedBy

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

import io.holdfast.checkpoint.VersionId
import io.holdfast.conf.StoreContext
import io.holdfast.surroundings.Clock

/** The snapshots that commits ask for: because Spark's coordinator wants one (`forceSnapshotOnCommit`),
  * or would before long ([[ReportedSnapshots]]). They are written beside the batches that follow.
  *
  * The coordinator asks with every batch until it hears of a snapshot, so there is one request at a
  * time: the newest, until its turn has come. One that fails is logged, and made again by a commit
  * after the maintenance interval. Any thread may call.
  *
  * @param ahead
  *   whether snapshots are written before the coordinator asks: unless the user has said when
  */
final private[holdfast] class RequestedSnapshots(
    context: StoreContext,
    writer: SnapshotWriter,
    reported: ReportedSnapshots,
    ahead: Boolean,
    background: Executor,
    clock: Clock)
    extends Logging {
  // Never an attempt that was replaced: commits and turns hold the commit lock.
  @GuardedBy("this") private var waiting = Option.empty[Attempt]
  @GuardedBy("this") private var busy = false
  @GuardedBy("this") private var closed = false
  @GuardedBy("this") private var notBefore = Long.MinValue

  /** Says that a version was committed. For who holds the commit lock.
    *
    * @param forced
    *   whether Spark wants a snapshot of it
    * @param again
    *   whether there was a snapshot of another attempt at the version, or was about to be
    */
  def committed(attempt: Attempt, forced: Boolean, again: Boolean): Unit =
    if (forced || again || isSoonLate(attempt.id)) {
      if (request(attempt, again) && forced) {
        logWarning(
          s"Spark asks for a snapshot of $context with version ${attempt.id}, because " +
            s"${reported.describeLast(attempt.id.number)}. It is written beside the next batches")
      }
    }

  /** Says that another attempt at a version is about to be durable. What waits for the one before is
    * dropped. For who holds the commit lock.
    *
    * @return
    *   whether there was any
    */
  def replaced(id: VersionId): Boolean = synchronized {
    val dropped = waiting.exists(_.id == id)
    if (dropped) waiting = None
    dropped
  }

  /** Whether the coordinator might ask for a snapshot before long. */
  def isSoonLate(id: VersionId): Boolean = ahead && reported.isSoonLate(id.number)

  /** Writes in this thread what still waits for its turn. */
  def writeWaiting(): Unit = {
    var taken = Option.empty[Attempt]
    try {
      val _ = writer.writeBesideTasks {
        taken = take()
        taken
      }()
    } catch {
      case NonFatal(e) =>
        synchronized {
          notBefore = clock.millis + context.conf.maintenanceInterval
        }
        logWarning(
          s"Could not write the snapshot of version ${taken.fold("")(_.id.toString)} of $context " +
            "that a commit asked for. The version can be loaded from the files that are there; " +
            "another commit will ask again",
          e)
    }
  }

  /** Returns when nothing is asked for any more that was asked for before. */
  def awaitIdle(): Unit = synchronized(while (busy) wait())

  /** Drops what waits. */
  def close(): Unit = synchronized {
    closed = true
    waiting = None
  }

  // Whether a turn was asked for: not if there is one to come, or if it is being taken. A snapshot
  // that is being written meets the wishes that come meanwhile, unless it is the one that is replaced.
  private def request(attempt: Attempt, again: Boolean): Boolean = synchronized {
    if (closed || clock.millis < notBefore) false
    else if (busy) {
      if (again || waiting.isDefined) waiting = Some(attempt)
      false
    } else {
      waiting = Some(attempt)
      busy = true
      begin()
    }
  }

  // The version is durable: whatever is wrong with the threads is not the commit's failure. That there
  // are no more of them is an OutOfMemoryError.
  @GuardedBy("this")
  private def begin(): Boolean =
    try {
      background.execute(() => turn())
      true
    } catch {
      case e: Throwable =>
        waiting = None
        ended()
        e match {
          case NonFatal(_) | _: OutOfMemoryError =>
            logWarning(
              s"There is no thread to write a snapshot of $context; another commit will ask",
              e)
            false
          case _ => throw e
        }
    }

  private def turn(): Unit =
    try while (writeOne()) {}
    catch {
      case e: Throwable =>
        synchronized(ended())
        throw e
    }

  // Whether there is another one to write.
  private def writeOne(): Boolean = {
    val next = synchronized(waiting)
    writeWaiting()
    synchronized {
      // What still waits then waits for another writer: for maintenance, which comes back to it.
      val more = waiting.exists(!next.contains(_))
      if (!more) ended()
      more
    }
  }

  @GuardedBy("this")
  private def ended(): Unit = {
    busy = false
    notifyAll()
  }

  private def take(): Option[Attempt] = synchronized {
    val taken = waiting
    waiting = None
    taken
  }
}

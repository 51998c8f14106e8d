package io.holdfast.snapshots

import java.util.concurrent.Executor
import javax.annotation.concurrent.GuardedBy

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

import io.holdfast.checkpoint.VersionId
import io.holdfast.conf.StoreContext
import io.holdfast.surroundings.Clock
import io.holdfast.table.Version

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
  import RequestedSnapshots.Request

  @GuardedBy("this") private var waiting = Option.empty[Request]
  @GuardedBy("this") private var busy = false
  @GuardedBy("this") private var closed = false
  @GuardedBy("this") private var notBefore = Long.MinValue

  /** Says that a version was committed.
    *
    * @param deltaBytes
    *   size of its delta
    * @param forced
    *   whether Spark wants a snapshot of it
    * @param again
    *   whether there was a snapshot of another attempt at the version
    */
  def committed(
      id: VersionId,
      version: Version,
      deltaBytes: Long,
      forced: Boolean,
      again: Boolean): Unit =
    if (forced || again || isSoonLate(id)) {
      if (request(Request(id, version, deltaBytes)) && forced) {
        logWarning(
          s"Spark asks for a snapshot of $context with version $id, because " +
            s"${reported.describeLast(id.number)}. It is written beside the next batches")
      }
    }

  /** Whether the coordinator might ask for a snapshot before long. */
  def isSoonLate(id: VersionId): Boolean = ahead && reported.isSoonLate(id.number)

  /** Writes in this thread what still waits for its turn. */
  def writeWaiting(): Unit = take().foreach(write)

  /** Returns when nothing is asked for any more that was asked for before. */
  def awaitIdle(): Unit = synchronized(while (busy) wait())

  /** Drops what waits. */
  def close(): Unit = synchronized {
    closed = true
    waiting = None
  }

  // Whether a turn was asked for: not if there is one to come, or if it is being taken.
  private def request(request: Request): Boolean = synchronized {
    if (closed || clock.millis < notBefore) false
    else if (busy) {
      waiting = waiting.map(_ => request)
      false
    } else {
      waiting = Some(request)
      busy = true
      begin()
    }
  }

  // The version is durable: whatever is wrong with the threads is not the commit's failure.
  @GuardedBy("this")
  private def begin(): Boolean =
    try {
      background.execute(() => turn())
      true
    } catch {
      case NonFatal(e) =>
        waiting = None
        busy = false
        logWarning(
          s"There is no thread to write a snapshot of $context; another commit will ask",
          e)
        false
    }

  private def turn(): Unit =
    try take().foreach(write)
    finally
      synchronized {
        busy = false
        notifyAll()
      }

  private def take(): Option[Request] = synchronized {
    val taken = waiting
    waiting = None
    taken
  }

  private def write(request: Request): Unit =
    try {
      val _ = writer.writeBesideTasks(request.id, request.version, request.deltaBytes)
    } catch {
      case NonFatal(e) =>
        synchronized {
          notBefore = clock.millis + context.conf.maintenanceInterval
        }
        logWarning(
          s"Could not write the snapshot of version ${request.id} of $context that a commit asked " +
            "for. The version can be loaded from the files that are there; another commit will ask " +
            "again",
          e)
    }
}

private object RequestedSnapshots {
  final private case class Request(id: VersionId, version: Version, deltaBytes: Long)
}

package io.holdfast.snapshots

import javax.annotation.concurrent.GuardedBy

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.holdfast.SnapshotReports

import io.holdfast.conf.StoreContext
import io.holdfast.surroundings.Clock

/** Tells Spark's coordinator of snapshots, and knows from that when it will soon take them for late.
  * Any thread may call.
  */
final private[holdfast] class ReportedSnapshots(context: StoreContext, clock: Clock)
    extends Logging {
  import ReportedSnapshots._

  private val enabled = SnapshotReports.areWanted(context.conf)
  // Who only reads never asks for them, and they are looked up in all of Spark's settings.
  private lazy val limits = ForcedSnapshots.limits(context.conf)

  // All stores of a query begin at the same time; snapshots at different ones load machines and the
  // file system less.
  private val share = MinShare +
    (MaxShare - MinShare) * Math.floorMod(context.providerId.storeId.hashCode, 64) / 64

  @GuardedBy("this") private var last = Option.empty[Report]

  /** Says which snapshot a load would start from. That nobody hears it is no failure: the snapshot is
    * there, and who reads state in a session that has begun no query has no coordinator
    * (`StateStoreCoordinatorRef.forExecutor`, where Spark's own providers fail, 4.1 and 4.2).
    */
  def report(version: Long): Unit = {
    synchronized {
      // Like the coordinator, which passes over what is no news.
      if (!last.exists(_.version >= version)) last = Some(Report(version, clock.millis))
    }
    if (enabled) {
      try SnapshotReports.send(context.providerId, version, clock.millis)
      catch {
        case NonFatal(e) =>
          logDebug(s"Spark's coordinator was not told of the snapshot of version $version", e)
      }
    }
  }

  /** Whether the coordinator may ask for a snapshot before long if none is written with this version. */
  def isSoonLate(version: Long): Boolean = limits.exists { limits =>
    synchronized {
      version - last.fold(0L)(_.version) > limits.versions * share &&
      last.forall(clock.millis - _.millis > limits.millis * share)
    }
  }

  /** The last one, in messages. */
  def describeLast(version: Long): String = synchronized {
    last.fold("there has been none") { report =>
      s"the last one was of version ${report.version}, ${version - report.version} versions and " +
        s"${(clock.millis - report.millis) / 1000L} s ago"
    }
  }
}

private object ReportedSnapshots {
  private final case class Report(version: Long, millis: Long)

  // What is left must do for the snapshot to wait for its turn and be written.
  private val MinShare = 0.5
  private val MaxShare = 0.75
}

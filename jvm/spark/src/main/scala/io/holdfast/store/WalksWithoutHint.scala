package io.holdfast.store

import java.util.concurrent.atomic.AtomicBoolean

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types.StructType

import io.holdfast.conf.StoreContext
import io.holdfast.eviction.TaskHints
import io.holdfast.table.Rows

/** Says once that a query looks through much state in every batch for want of the session extension.
  * Any thread may call.
  */
final private[holdfast] class WalksWithoutHint extends Logging {
  import WalksWithoutHint._

  private val told = new AtomicBoolean

  /** Takes notice of a walk over all rows of a store, for the task that begins it. */
  def begun(context: StoreContext, rows: Rows): Unit =
    if (!told.get && TaskHints.areMissing && hasExpiry(context) && rows.keyCount >= ManyRows &&
      told.compareAndSet(false, true)) {
      logWarning(
        s"A batch looks through all ${rows.keyCount} rows of $context for expired ones, and every " +
          "batch will. Set spark.sql.extensions to io.holdfast.HoldfastExtensions before the session " +
          "starts, and batches look only where rows have expired")
    }

  private def hasExpiry(context: StoreContext): Boolean =
    hasEventTime(context.keySchema) || hasEventTime(context.valueSchema) ||
      context.valueSchema.fieldNames.exists(ExpiryColumns) ||
      context.id.storeName.endsWith(KeysOfJoin)

  private def hasEventTime(schema: StructType): Boolean =
    schema.exists(_.metadata.contains(EventTimeWatermark.delayKey))
}

private[holdfast] object WalksWithoutHint {

  // Walks over fewer rows are short beside the rest of a batch.
  private val ManyRows = 10000L

  // The columns by which operators keep when a row expires, beside those of event time.
  private val ExpiryColumns = Set("expiresAtMicros", "timeoutTimestamp")

  private val KeysOfJoin = "keyToNumValues"

  /** The same is true of every query of a session without it. */
  val OfThisJvm = new WalksWithoutHint
}

package io.holdfast.transform

import scala.util.Try

import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExecBase
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.HoldfastStateStoreProvider

/** A node of `transformWithState` that takes Holdfast for what it is. Spark's own takes no provider but
  * that of RocksDB, by the name of its class.
  */
private[transform] trait OnHoldfast extends TransformWithStateExecBase {

  override def nodeName: String = "TransformWithState"

  override protected def validateStateStoreProvider(isStreaming: Boolean): Unit =
    if (!OnHoldfast.isProviderOf(conf)) {
      super.validateStateStoreProvider(isStreaming)
    }

  // Else Spark would take it for the node in whose place it comes, and leave that.
  override def canEqual(other: Any): Boolean = other != null && other.getClass == getClass

  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)

  override def hashCode: Int = super.hashCode
}

private[transform] object OnHoldfast {
  private val Provider = classOf[HoldfastStateStoreProvider].getName

  /** Whether state is kept in Holdfast. */
  def isProviderOf(conf: SQLConf): Boolean =
    takes(conf.getConf(SQLConf.STATE_STORE_PROVIDER_CLASS))

  // What cannot be loaded Spark tells of.
  private def takes(provider: String): Boolean = provider == Provider ||
    Try(Class.forName(provider, false, Thread.currentThread.getContextClassLoader)).toOption
      .exists(classOf[TakenForHoldfast].isAssignableFrom)
}

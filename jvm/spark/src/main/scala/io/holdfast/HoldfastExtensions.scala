package io.holdfast

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.holdfast.session.BuildInfo

/** Says when a streaming query is started, rather than in its first batch, that it needs what
  * Holdfast does not do: set `spark.sql.extensions` to this class.
  *
  * Sessions that use another provider are not touched.
  */
final class HoldfastExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectCheckRule(session => HoldfastExtensions.check(session))
}

private[holdfast] object HoldfastExtensions {
  private val ProviderSetting = "spark.sql.streaming.stateStore.providerClass"

  private def check(session: SparkSession): LogicalPlan => Unit = plan =>
    if (plan.isStreaming &&
      session.conf.getOption(ProviderSetting).contains(classOf[HoldfastStateStoreProvider].getName))
      unsupported(plan).foreach { what =>
        throw new UnsupportedOperationException(
          s"The query uses $what, which Holdfast ${BuildInfo.current.version} does not support yet. " +
            s"Run this query with another $ProviderSetting")
      }

  /** What in a streaming plan Holdfast cannot keep the state of. */
  private[holdfast] def unsupported(plan: LogicalPlan): Option[String] =
    plan.collectFirst {
      case node if node.nodeName.startsWith("TransformWithState") => "transformWithState"
    }
}

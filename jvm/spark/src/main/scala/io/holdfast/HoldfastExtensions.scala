package io.holdfast

import org.apache.spark.sql.SparkSessionExtensions

import io.holdfast.eviction.EvictionRule
import io.holdfast.session.JarCheck
import io.holdfast.start.QueryStart
import io.holdfast.transform.TransformRule

/** What Holdfast does in a session: set `spark.sql.extensions` to this class.
  *
  * It reads from the plan of every batch which rows its operators will remove because their time has
  * come, so that their stores look for those only where there are some
  * ([[io.holdfast.eviction.EvictionRule]]). Of the plan it changes the nodes of `transformWithState`
  * alone, which from Spark 4.2 on would take no provider but Spark's own.
  *
  * And it says when a streaming query is started, rather than in its first batch, what would go wrong
  * or otherwise than its user thinks. Refused, in a sentence, is a query that is to keep its state in Holdfast and has
  * settings of Holdfast that have no meaning, and a new query with a provider class that cannot be
  * loaded. A warning in the log says when a query keeps its state somewhere else
  * although the session is set up for Holdfast. Queries of other providers are not touched.
  *
  * Made by Spark when a session is made.
  *
  * @throws java.lang.IllegalStateException
  *   if the jar is for another Spark
  */
final class HoldfastExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    JarCheck.check()
    extensions.injectCheckRule(new QueryStart(_))
    extensions.injectColumnar(_ => TransformRule.columnar)
    extensions.injectColumnar(new EvictionRule(_))
  }
}

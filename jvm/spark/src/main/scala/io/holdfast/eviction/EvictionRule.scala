package io.holdfast.eviction

import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.{
  StateStoreWriter,
  StatefulOperatorStateInfo,
  StreamExecution
}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.execution.streaming.state.holdfast.StoreNames
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.conf.HoldfastConf

/** Reads from the physical plan of every batch what its operators will remove, and leaves it for their
  * stores. The plan stays as it is.
  *
  * Columnar rules of a session run on the thread of a query for each of its batches, after Spark has
  * put the batch's watermarks into the nodes and before it makes the batch's tasks
  * (`IncrementalExecution.preparations`, `MicroBatchExecution.runBatch`, Spark 4.2 and 4.3; adaptive
  * execution is off in a query with state). A local property of that thread is there for
  * `TaskContext.getLocalProperty` of those tasks, whenever they are tried. Its name has the run, the
  * operator and the store, and its text the version that the batch starts from, so it says nothing to
  * any other store, nor to this one in another batch, whatever else is planned on the thread.
  */
final private[holdfast] class EvictionRule(session: SparkSession)
    extends ColumnarRule
    with Logging {

  override def preColumnarTransitions: Rule[SparkPlan] = (plan: SparkPlan) => {
    read(plan)
    plan
  }

  private def read(plan: SparkPlan): Unit = {
    val context = session.sparkContext
    if (context.getLocalProperty(StreamExecution.QUERY_ID_KEY) != null) {
      context.setLocalProperty(EvictionHint.PlansAreRead, "true")
      plan.foreach {
        case operator: StateStoreWriter => operator.stateInfo.foreach(tell(operator, _, context))
        case _ =>
      }
    }
  }

  private def tell(
      operator: StateStoreWriter,
      state: StatefulOperatorStateInfo,
      context: SparkContext): Unit = {
    val hints = hintsOf(operator)
    StoreNames.of(operator).foreach { store =>
      context.setLocalProperty(
        EvictionHint.property(state.queryRunId, state.operatorId, store),
        hints.get(store).map(EvictionHint.text(state.storeVersion, _)).orNull)
    }
  }

  // A batch does not fail for want of a hint, whatever a distribution of Spark has in its nodes.
  private def hintsOf(operator: StateStoreWriter): Map[String, EvictionHint] =
    try if (isOn(operator.conf)) OperatorHints.of(operator) else Map.empty
    catch {
      case e @ (NonFatal(_) | _: LinkageError) =>
        logDebug(
          s"What ${operator.nodeName} removes is not known; its stores are looked through",
          e)
        Map.empty
    }

  private def isOn(conf: SQLConf): Boolean = HoldfastConf.evictionHints(
    conf.getConfString(HoldfastConf.EvictionHints.name, HoldfastConf.EvictionHints.default))
}

package io.holdfast.start

import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals

import io.holdfast.HoldfastStateStoreProvider
import io.holdfast.checkpoint.HoldfastCommand
import io.holdfast.conf.HoldfastConf
import io.holdfast.memory.ByteSize

/** What is looked at when a streaming query starts, on the thread that starts it.
  *
  * Spark analyses a query once more when it is started, under a node that knows the checkpoint
  * location, whichever way that was given (`StreamingQueryManager.createQuery`, Spark 4.2). So a check
  * rule sees there what nobody knows while the plan is put together: which provider the query will
  * have, for the one that its checkpoint is bound to wins over the one of the session.
  */
final private[holdfast] class QueryStart(session: SparkSession)
    extends (LogicalPlan => Unit)
    with Logging {
  import QueryStart._

  override def apply(plan: LogicalPlan): Unit = plan match {
    case start: WriteToStream => check(start)
    case _ =>
  }

  private def check(start: WriteToStream): Unit = {
    if (isRealTime) {
      if (isProviderSet && session.conf.get(ProviderSetting) == Holdfast) {
        throw new IllegalArgumentException(ProviderForRealTimeMode)
      }
      RealTimeQueries.in(session)
    }
    val location = start.resolvedCheckpointLocation
    val settings = boundSettings(location)
    val bound = settings.flatMap(_.get(ProviderSetting))
    val used = bound.getOrElse(asked)
    lazy val keepsState = StatefulPlans.keepState(start.inputQuery)
    if (bound.isEmpty) checkClass(used)
    else if (used != Holdfast && keepsState) checkBoundClass(used, location)
    if (used == Holdfast) {
      checkSettings()
      if (keepsState) checkCodec(location, settings)
    } else if (keepsState) {
      if (bound.isDefined && asked == Holdfast) logWarning(goesOnWith(used, location))
      else if (bound.isEmpty && !isProviderSet && forgotten.compareAndSet(false, true)) {
        logWarning(ProviderForgotten)
      }
    }
  }

  // The provider that a new query gets.
  private def asked: String =
    if (isRealTime && !isProviderSet) Holdfast else session.conf.get(ProviderSetting)

  private def isRealTime: Boolean = HoldfastConf.realTimeMode(
    session.conf.get(HoldfastConf.RealTimeMode.name, HoldfastConf.RealTimeMode.default))

  private def isProviderSet: Boolean = SparkInternals.isSet(session, ProviderSetting)

  // A log of offsets that cannot be read is for Spark to complain of, in a moment.
  private def boundSettings(location: String): Option[Map[String, String]] =
    try SparkInternals.boundTo(session, new Path(location))
    catch {
      case NonFatal(e) =>
        logDebug(s"The newest offsets of $location say nothing of a state store provider", e)
        None
    }

  // Stores would find out when they write the first version, and the checkpoint is bound to it then.
  private def checkCodec(location: String, bound: Option[Map[String, String]]): Unit = {
    // A checkpoint that is from before Spark wrote the codec down has the default.
    val name = bound.fold(Option(SparkInternals.stateCodec(session)))(_.get(CodecSetting))
    for {
      codec <- name
      why <- SparkInternals.whyNoCodec(codec, executorsHaveMore = !session.sparkContext.isLocal)
    } throw new IllegalArgumentException(bound.fold(unknownCodec(codec, why)) { _ =>
      s"The checkpoint $location is bound to the codec '$codec', $why. Bring the jar that has the " +
        "class; if no batch has ever been committed, begin with another checkpoint location and a " +
        s"right $CodecSetting"
    })
  }

  private def checkSettings(): Unit = {
    val heap = SparkInternals.executorHeapBytes(session.sparkContext)
    if (HoldfastConf(session.conf.getAll, heap).memoryLimitBytes > heap) {
      val limit = HoldfastConf.MemoryLimit.name
      throw new IllegalArgumentException(
        s"$limit is '${session.conf.get(limit)}', and the heap of an executor has only " +
          s"${ByteSize(heap)}: memory would end before the limit is reached. Give a lower limit or a " +
          "share such as 40%, or leave the setting out")
    }
  }
}

private[holdfast] object QueryStart {
  val ProviderSetting = "spark.sql.streaming.stateStore.providerClass"

  val CodecSetting = "spark.sql.streaming.stateStore.compression.codec"

  private val Holdfast = classOf[HoldfastStateStoreProvider].getName

  // Once for each JVM: the same is true of every query that follows.
  private val forgotten = new AtomicBoolean

  private val ProviderForgotten =
    "spark.sql.extensions names HoldfastExtensions, and the query keeps its state in Spark's default " +
      s"provider all the same, because $ProviderSetting is not set. Set it to $Holdfast for Holdfast, " +
      "or to another class to say that this is wanted"

  private val ProviderForRealTimeMode =
    s"${HoldfastConf.RealTimeMode.name} is true and $ProviderSetting is set, too, where Spark refuses " +
      "real-time mode. Leave the provider class out: new queries keep their state in Holdfast without " +
      "it, whichever mode they run in"

  private def goesOnWith(bound: String, location: String): String =
    s"The query goes on with $bound, which its checkpoint $location is bound to, although the session " +
      "asks for Holdfast. To switch it, stop the query and run: " +
      HoldfastCommand.migrateToHoldfast(location)

  private def unknownCodec(name: String, why: String): String =
    s"$CodecSetting is '$name', $why. A query that starts with it would be bound to it by its " +
      s"checkpoint: give ${SparkInternals.CodecNames.mkString(", ")}, or the name of a class on the " +
      "class path, or leave the setting out"

  /** Refuses to bind a new query to what Spark could never load. */
  private def checkClass(name: String): Unit =
    SparkInternals.whyNoProvider(name).foreach { why =>
      throw new IllegalArgumentException(s"$ProviderSetting is '$name', $why. A query that starts with it would be bound to it by its " +
        s"checkpoint: correct the name (Holdfast is $Holdfast), or bring the jar that has the class")
    }

  private def checkBoundClass(name: String, location: String): Unit =
    SparkInternals.whyNoProvider(name).foreach { why =>
      throw new IllegalArgumentException(
        s"The checkpoint $location is bound to the state store provider '$name', $why. Bring the jar " +
          "that has the class, or bind the checkpoint to Holdfast with: " +
          HoldfastCommand.migrateToHoldfast(location, from = Some(name)))
    }
}

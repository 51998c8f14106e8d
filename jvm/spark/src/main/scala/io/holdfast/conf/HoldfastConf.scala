package io.holdfast.conf

import java.util.Locale

import scala.util.Try

import org.apache.spark.network.util.JavaUtils

import io.holdfast.memory.ByteSize

/** The settings of Holdfast's own, as one store sees them.
  *
  * @param memoryLimitBytes
  *   heap bytes that all stores of one JVM may use together
  * @param withSparkBytes
  *   heap bytes that they and what Spark counts itself may use together, unless the limit is set
  * @param evictionHints
  *   whether stores look for expired rows only where there are some
  */
final private[holdfast] case class HoldfastConf(
    memoryLimitBytes: Long,
    withSparkBytes: Option[Long],
    evictionHints: Boolean)

private[holdfast] object HoldfastConf {

  /** What the names of all settings begin with. Spark passes on to stores what begins with
    * `spark.sql.streaming.stateStore.`, and nothing else (`StateStoreConf`, Spark 4.2).
    */
  val Prefix = "spark.sql.streaming.stateStore.holdfast."

  /** A setting that jobs may set.
    *
    * @param name
    *   its whole name
    * @param default
    *   what holds when it is not set
    * @param meaning
    *   what it says, in a sentence
    */
  final case class Setting(name: String, default: String, meaning: String)

  val MemoryLimit: Setting = Setting(
    Prefix + "memoryLimit",
    "50%",
    "Heap that the state of all stores of an executor may use: bytes such as 8g, 1m or more, or a " +
      "share of the executor's heap such as 50%. A batch that needs more fails with an error that names " +
      "the store; the log warns from four fifths of it on. Unless it is set, state, " +
      "cached data and the memory of operators may take 90% of the heap together.")

  val EvictionHints: Setting = Setting(
    Prefix + "evictionHints",
    "true",
    "Whether a batch looks for expired rows only where there are some, which needs " +
      "`spark.sql.extensions` to name `io.holdfast.HoldfastExtensions`. If false, operators look " +
      "through all of their state in every batch, as with other providers. What they find is the same.")

  val RealTimeMode: Setting = Setting(
    Prefix + "realTimeMode",
    "false",
    "Whether new queries keep their state in Holdfast where " +
      "`spark.sql.streaming.stateStore.providerClass` is not set, with checkpoint format 2, so that " +
      "they may run in real-time mode: Spark refuses that where the provider class is set. " +
      "Needs Spark 4.3, and `spark.sql.extensions` to name `io.holdfast.HoldfastExtensions`.")

  val settings: Seq[Setting] = Seq(MemoryLimit, EvictionHints, RealTimeMode)

  /** The smallest limit in bytes that can be meant: what is less is one whose unit was forgotten, and
    * stores need more to hold anything. A share of the heap may be less.
    */
  val LeastLimitBytes: Long = 1L << 20

  private val Percent = """\s*(\d{1,3})\s*%\s*""".r

  /** @param confs
    *   Spark settings by name
    * @param heapBytes
    *   largest heap of this JVM
    * @param leastLimitBytes
    *   the smallest limit that may be set in bytes; tests have smaller ones
    * @throws java.lang.IllegalArgumentException
    *   if a setting is unknown or has no meaning
    */
  def apply(
      confs: Map[String, String],
      heapBytes: Long,
      leastLimitBytes: Long = LeastLimitBytes): HoldfastConf = {
    confs.keys.filter(_.startsWith(Prefix)).find(name => !settings.exists(_.name == name)).foreach {
      name =>
        throw new IllegalArgumentException(
          s"$name is no setting of Holdfast; it has ${settings.map(_.name).mkString(", ")}. " +
            "Correct the name or leave the setting out")
    }
    HoldfastConf(
      memoryLimit(
        confs.getOrElse(MemoryLimit.name, MemoryLimit.default),
        heapBytes,
        leastLimitBytes),
      if (confs.contains(MemoryLimit.name)) None else Some(heapBytes / 10 * 9),
      evictionHints(confs.getOrElse(EvictionHints.name, EvictionHints.default)))
  }

  /** What [[RealTimeMode]] says.
    *
    * @throws java.lang.IllegalArgumentException
    *   if it is neither true nor false
    */
  def realTimeMode(text: String): Boolean = flag(RealTimeMode, text)

  /** What [[EvictionHints]] says.
    *
    * @throws java.lang.IllegalArgumentException
    *   if it is neither true nor false
    */
  def evictionHints(text: String): Boolean = flag(EvictionHints, text)

  private def flag(setting: Setting, text: String): Boolean =
    text.trim.toLowerCase(Locale.ROOT) match {
      case "true" => true
      case "false" => false
      case _ =>
        throw new IllegalArgumentException(
          s"${setting.name} is '$text'; give true or false, or leave the setting out")
    }

  private def memoryLimit(text: String, heapBytes: Long, leastBytes: Long): Long = {
    val bytes = text match {
      case Percent(share) if share.toInt <= 100 => Some(heapBytes / 100 * share.toInt)
      case other =>
        val size = Try(JavaUtils.byteStringAsBytes(other)).toOption
        size.filter(given => given > 0 && given < leastBytes).foreach { given =>
          throw new IllegalArgumentException(
            s"${MemoryLimit.name} is '$text', ${ByteSize(given)}, and state stores need at least " +
              s"${ByteSize(leastBytes)}${probablyMeant(other.trim)}; give bytes such as 8g, or a " +
              "share of the executor's heap such as 40%")
        }
        size
    }
    bytes.filter(_ > 0).getOrElse {
      throw new IllegalArgumentException(
        s"${MemoryLimit.name} is '$text'; give bytes such as 8g, or a share of the executor's heap " +
          "from 1% to 100%")
    }
  }

  private def probablyMeant(number: String): String =
    if (!number.forall(_.isDigit)) ""
    else {
      val share = if (number.length <= 2) s", or $number% of the heap" else ""
      s": its unit was probably forgotten, and ${number}g or ${number}m meant$share"
    }
}

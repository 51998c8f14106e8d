package org.apache.spark.sql.execution.streaming.state.holdfast

import java.util.Locale

import org.apache.hadoop.fs.Path

import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.io.{
  CompressionCodec,
  LZ4CompressionCodec,
  LZFCompressionCodec,
  SnappyCompressionCodec,
  ZStdCompressionCodec
}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated._
import org.apache.spark.sql.execution.streaming.state.holdfast.Sessions.LocalSession
import org.apache.spark.util.Utils

/** What Spark keeps private to its own packages: codecs, settings and classes. Its errors are
  * `StateErrors`; what not all lines have lies beside it. Nothing is decided here.
  *
  * Any thread may call.
  */
object SparkInternals {

  /** What the state of a group has for the time at which it times out if it does not. */
  val NoTimeoutTimestamp: Long = GroupStateImpl.NO_TIMESTAMP

  /** The codec of a short name or class name.
    *
    * @throws org.apache.spark.SparkIllegalArgumentException
    *   of class CODEC_NOT_AVAILABLE if there is none
    */
  def codec(conf: SparkConf, name: String): CompressionCodec =
    CompressionCodec.createCodec(conf, name)

  /** The short name of a codec, by which every reader knows it; of one that is not Spark's, the name of
    * its class. One that extends Spark's is another: its bytes may be others.
    */
  def shortName(codec: CompressionCodec): String =
    ShortNames.getOrElse(codec.getClass, codec.getClass.getName)

  private val ShortNames: Map[Class[_ <: CompressionCodec], String] = Map(
    classOf[LZ4CompressionCodec] -> "lz4",
    classOf[ZStdCompressionCodec] -> "zstd",
    classOf[SnappyCompressionCodec] -> "snappy",
    classOf[LZFCompressionCodec] -> "lzf")

  /** Whether the lz4-java that is there keeps to the bytes of a block, whatever they say: where it has
    * this class, Spark asks for a decompressor that does (Spark 4.2).
    */
  lazy val trustsLz4: Boolean =
    try {
      val _ = Utils
        .classForName[AnyRef]("net.jpountz.lz4.LZ4BlockInputStream$Builder", initialize = false)
      true
    } catch { case _: ClassNotFoundException => false }

  /** The codec of state files that a new query of a session gets, as stores read the setting. */
  def stateCodec(session: SparkSession): String =
    session.asInstanceOf[LocalSession].sessionState.conf.stateStoreCompressionCodec

  /** The short names of Spark's codecs, which it takes in any case. */
  val CodecNames: Seq[String] =
    CompressionCodec.ALL_COMPRESSION_CODECS.map(CompressionCodec.getShortName).sorted

  /** Why Spark cannot make a codec of a short name or class name (`CompressionCodec.createCodec`, Spark
    * 4.2), as the end of a sentence, or nothing if it can, or may.
    *
    * @param executorsHaveMore
    *   stores are in other JVMs, which may have classes that this one has not. A name without a package
    *   and one in Spark's are none of these
    */
  def whyNoCodec(name: String, executorsHaveMore: Boolean): Option[String] = {
    def isElsewhere =
      executorsHaveMore && name.contains('.') && !name.startsWith(CodecPackage)
    if (CodecNames.contains(name.toLowerCase(Locale.ROOT))) None
    else
      try {
        val found = Utils.classForName[AnyRef](name, initialize = false)
        if (!classOf[CompressionCodec].isAssignableFrom(found)) Some("which is no CompressionCodec")
        else if (!found.getConstructors.exists(
            _.getParameterTypes.toSeq == Seq(classOf[SparkConf])))
          Some("which has no public constructor that takes a SparkConf alone")
        else None
      } catch {
        case _: ClassNotFoundException =>
          if (isElsewhere) None else Some("and there is no such codec")
        case e: LinkageError =>
          if (isElsewhere) None else Some(s"and this class cannot be loaded ($e)")
      }
  }

  private val CodecPackage = classOf[CompressionCodec].getPackage.getName + "."

  /** Whether a setting was set on a session or before there was one, rather than left at its default. */
  def isSet(session: SparkSession, setting: String): Boolean =
    session.asInstanceOf[LocalSession].sessionState.conf.contains(setting)

  /** What settings were in the newest batch of a checkpoint, if there is one and it says so: a query
    * that goes on from there has them again, whatever its session says (`OffsetSeqMetadata`, Spark
    * 4.2).
    */
  def boundTo(session: SparkSession, checkpoint: Path): Option[Map[String, String]] = {
    val spark = session.asInstanceOf[LocalSession]
    val offsets = new Path(checkpoint, "offsets")
    val manager = CheckpointFileManager.create(offsets, spark.sessionState.newHadoopConf())
    if (!manager.exists(offsets)) None else NewestOffsets.settings(spark, offsets)
  }

  /** Why Spark cannot make a state store provider of a class name, as the end of a sentence, or
    * nothing if it can.
    */
  def whyNoProvider(name: String): Option[String] =
    try
      if (classOf[StateStoreProvider].isAssignableFrom(
          Utils.classForName[AnyRef](name, initialize = false))) None
      else Some("which is no StateStoreProvider")
    catch {
      case _: ClassNotFoundException => Some("and there is no such class on the class path")
      case e: LinkageError => Some(s"and this class cannot be loaded ($e)")
    }

  /** Largest heap of a JVM that holds stores: that of an executor, or in local mode of this one. */
  def executorHeapBytes(context: SparkContext): Long =
    if (context.isLocal) Runtime.getRuntime.maxMemory else context.executorMemory * 1024L * 1024L
}

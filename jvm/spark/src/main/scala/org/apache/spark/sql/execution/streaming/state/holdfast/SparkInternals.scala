package org.apache.spark.sql.execution.streaming.state.holdfast

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
    * its class.
    */
  def shortName(codec: CompressionCodec): String = codec match {
    case _: LZ4CompressionCodec => "lz4"
    case _: ZStdCompressionCodec => "zstd"
    case _: SnappyCompressionCodec => "snappy"
    case _: LZFCompressionCodec => "lzf"
    case other => other.getClass.getName
  }

  /** Whether a setting was set on a session or before there was one, rather than left at its default. */
  def isSet(session: SparkSession, setting: String): Boolean =
    session.asInstanceOf[LocalSession].sessionState.conf.contains(setting)

  /** What a setting was in the newest batch of a checkpoint, if there is one and it says so: a query
    * that goes on from there has it again, whatever its session says (`OffsetSeqMetadata`, Spark 4.2).
    */
  def boundTo(session: SparkSession, checkpoint: Path, setting: String): Option[String] = {
    val spark = session.asInstanceOf[LocalSession]
    val offsets = new Path(checkpoint, "offsets")
    val manager = CheckpointFileManager.create(offsets, spark.sessionState.newHadoopConf())
    if (!manager.exists(offsets)) None
    else NewestOffsets.settings(spark, offsets).flatMap(_.get(setting))
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

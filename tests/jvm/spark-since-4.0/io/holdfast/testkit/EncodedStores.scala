package io.holdfast.testkit

import java.nio.file.Path
import java.util.UUID

import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StreamExecution
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  StateStoreProvider
}

/** Stores of other kinds than those of Spark's default provider: what has no words before Spark 4.0. */
trait EncodedStores {

  implicit final class Encoded(settings: Provider) {

    /** An initialised provider of a store in a folder. */
    def openEncoded(
        root: Path,
        keyEncoder: KeyStateEncoderSpec = NoPrefixKeyStateEncoderSpec(settings.keySchema),
        multipleValues: Boolean = false): StateStoreProvider = {
      val provider = settings.uninitialised()
      val hadoopConf = settings.hadoopConf
      hadoopConf.set(StreamExecution.RUN_ID_KEY, UUID.randomUUID().toString)
      provider.init(
        settings.storeId(root),
        settings.keySchema,
        settings.valueSchema,
        keyEncoder,
        settings.columnFamilies,
        settings.storeConf,
        hadoopConf,
        multipleValues)
      provider
    }
  }
}

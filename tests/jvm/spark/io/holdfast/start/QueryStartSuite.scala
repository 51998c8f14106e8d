package io.holdfast.start

import org.apache.spark.SparkConf
import org.apache.spark.io.LZ4CompressionCodec
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals
import org.apache.spark.sql.streaming.OutputMode
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.query.QueryCheckpoint
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** What a session with the extension says of a query when it is started. */
class QueryStartSuite extends AnyFunSuite with QueryStarts {

  private val codec = "spark.sql.streaming.stateStore.compression.codec"

  private val memoryLimit = "spark.sql.streaming.stateStore.holdfast.memoryLimit"

  test("a location of all checkpoints is as good as one of the query's own") {
    TemporaryFolder.use { folder =>
      val input = words
      def run(): Unit = {
        val query = counts(input).writeStream
          .outputMode(OutputMode.Update)
          .queryName("counts")
          .format("noop")
          .start()
        try query.processAllAvailable()
        finally query.stop()
      }
      inSession("spark.sql.streaming.checkpointLocation" -> folder.toString) {
        input.addData("a")
        inSession(provider -> Provider.Spark)(run())
        inSession(provider -> Provider.Holdfast) {
          val said = warnings(run())
          assert(
            said.size == 1 && said.head.contains(s"migrate $folder/counts --to holdfast"),
            said)
        }
      }
    }
  }

  test("a query without state and one that is on Holdfast start without a word") {
    TemporaryFolder.use { folder =>
      val input = words
      input.addData("a")
      val said = warnings {
        runOnce(input.toDF(), folder.resolve("none"))
        inSession(provider -> Provider.Holdfast) {
          runOnce(counts(input), folder.resolve("counts"))
          runOnce(counts(input), folder.resolve("counts"))
        }
        // What is chosen on purpose is not questioned.
        inSession(provider -> Provider.Spark)(runOnce(counts(input), folder.resolve("spark")))
      }
      assert(said.isEmpty)
    }
  }

  test("that the provider class was forgotten is said once") {
    TemporaryFolder.use { folder =>
      val input = words
      input.addData("a")
      val said = warnings {
        runOnce(counts(input), folder.resolve("one"))
        runOnce(counts(input), folder.resolve("two"))
      }
      assert(said.size == 1, said)
      assert(said.head.contains(s"because $provider is not set"))
      assert(said.head.contains(s"Set it to ${Provider.Holdfast}"))
    }
  }

  for ((name, why) <- Seq(
      "io.holdfast.HoldfastStateStoreProvidr" -> "there is no such class",
      "java.lang.String" -> "which is no StateStoreProvider"))
    test(s"a new query is not bound to $name") {
      TemporaryFolder.use { folder =>
        inSession(provider -> name) {
          val e = intercept[IllegalArgumentException](start(counts(words), folder))
          assert(e.getMessage.contains(s"$provider is '$name'") && e.getMessage.contains(why))
          assert(e.getMessage.contains(s"Holdfast is ${Provider.Holdfast}"))
        }
        assert(!folder.resolve("offsets").toFile.exists())
      }
    }

  test("a checkpoint that is bound to a class that is not there says how to bind it to another") {
    TemporaryFolder.use { folder =>
      val input = words
      input.addData("a")
      inSession(provider -> Provider.Holdfast)(runOnce(counts(input), folder))
      val typo = Provider.Holdfast.dropRight(1)
      new QueryCheckpoint(folder).switchProvider(Provider.Holdfast, typo)
      inSession(provider -> Provider.Holdfast) {
        val e = intercept[IllegalArgumentException](start(counts(input), folder))
        assert(e.getMessage.contains(s"$folder is bound to the state store provider '$typo', and"))
        assert(e.getMessage.contains(s"holdfast migrate $folder --from $typo --to holdfast"))
      }
    }
  }

  for ((name, value, sentence) <- Seq(
      (memoryLimit, "much", s"$memoryLimit is 'much'; give bytes such as 8g"),
      (
        memoryLimit,
        "8",
        s"$memoryLimit is '8', 8 B, and state stores need at least 1.0 MiB: its unit"),
      (memoryLimit, "9000t", s"$memoryLimit is '9000t', and the heap of an executor has only"),
      (memoryLimit + "s", "1g", s"${memoryLimit}s is no setting of Holdfast")))
    test(s"$name of $value is refused before the query begins") {
      TemporaryFolder.use { folder =>
        inSession(provider -> Provider.Holdfast, name -> value) {
          val e = intercept[IllegalArgumentException](start(counts(words), folder))
          assert(e.getMessage.startsWith(sentence))
        }
      }
    }

  for ((name, why) <- Seq(
      "lz5" -> "and there is no such codec",
      " lz4" -> "and there is no such codec",
      "" -> "and there is no such codec",
      "org.apache.spark.io.LZ5CompressionCodec" -> "and there is no such codec",
      "java.lang.String" -> "which is no CompressionCodec",
      classOf[CodecOfNothing].getName -> "which has no public constructor"))
    test(s"a new query is not bound to the codec '$name'") {
      TemporaryFolder.use { folder =>
        inSession(provider -> Provider.Holdfast, codec -> name) {
          val e = intercept[IllegalArgumentException](start(counts(words), folder))
          assert(e.getMessage.startsWith(s"$codec is '$name', $why"), e.getMessage)
          assert(e.getMessage.contains("give lz4, lzf, snappy, zstd, or the name of a class"))
          assert(!folder.resolve("offsets").toFile.exists())
          // What keeps no state has none to compress.
          runOnce(words.toDF(), folder)
        }
      }
    }

  for (name <- Seq(
      "LZ4",
      "Zstd",
      "org.apache.spark.io.LZFCompressionCodec",
      classOf[MyCodec].getName))
    test(s"a query starts with the codec $name") {
      TemporaryFolder.use { folder =>
        val input = words
        inSession(provider -> Provider.Holdfast, codec -> name) {
          input.addData("a")
          runOnce(counts(input), folder)
        }
        // From then on it is the checkpoint that says so.
        inSession(provider -> Provider.Holdfast, codec -> "lz5") {
          input.addData("b")
          runOnce(counts(input), folder)
        }
        assert(new QueryCheckpoint(folder).newestBatch == 1)
      }
    }

  test("a checkpoint that is bound to a codec that is not there says so") {
    TemporaryFolder.use { folder =>
      val input = words
      input.addData("a")
      inSession(provider -> Provider.Holdfast) {
        runOnce(counts(input), folder)
        new QueryCheckpoint(folder).switch(codec, "lz4", "lz5")
        val e = intercept[IllegalArgumentException](start(counts(input), folder))
        assert(e.getMessage.contains(s"$folder is bound to the codec 'lz5', and there is no such"))
      }
    }
  }

  test("classes that only executors have may be codecs") {
    def why(name: String): Option[String] =
      SparkInternals.whyNoCodec(name, executorsHaveMore = true)
    assert(why("my.own.Codec").isEmpty && why("SNAPPY").isEmpty)
    assert(Seq("lz5", "org.apache.spark.io.Lz4", "java.lang.String").forall(why(_).isDefined))
    assert(SparkInternals.whyNoCodec("my.own.Codec", executorsHaveMore = false).isDefined)
  }
}

/** A codec of a user's. */
class MyCodec(conf: SparkConf) extends LZ4CompressionCodec(conf)

/** One that Spark cannot make. */
class CodecOfNothing extends MyCodec(new SparkConf(false))

package io.holdfast.start

import org.apache.spark.sql.streaming.OutputMode
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.query.QueryCheckpoint
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** What a session with the extension says of a query when it is started. */
class QueryStartSuite extends AnyFunSuite with QueryStarts {

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
}

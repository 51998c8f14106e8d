package io.holdfast.eviction

import java.util.UUID

import org.apache.spark.holdfast.FakeTask
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StreamExecution
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.eviction.EvictionHint.{LookedInto, OwnTimes, TimesOf}
import io.holdfast.table.EventTime
import io.holdfast.store.WalksWithoutHint
import io.holdfast.testkit.{CustomMetrics, LoggedWarnings, StoreCalls, TemporaryFolder}

/** What the stores of a task show of their rows when its batch has said what it will remove. */
class HintedStoreSuite extends AnyFunSuite {
  import HintedStores.{At, Numbers, Values}

  private def use[A](body: HintedStores => A): A = TemporaryFolder.use { folder =>
    val stores = new HintedStores(folder)
    try body(stores)
    finally stores.close()
  }

  private def inTask[A](properties: (String, String)*)(body: => A): A = {
    val task = new FakeTask(properties: _*)
    try task(body)
    finally task.end()
  }

  // The key's own number is its time.
  private val byKey = OwnTimes(EventTime(inKey = true, EventTime.Column(3, 1)), 5L)

  private def committed(stores: HintedStores, rows: (Long, Seq[Long])*): Unit = {
    val open = stores.write(0)
    rows.foreach { case (number, times) => open.put(number, times: _*) }
    open.commit()
  }

  private def tenKeys(stores: HintedStores): Unit =
    committed(stores, (1L to 10L).map(number => number -> Seq(number * 10)): _*)

  test("a walk with a hint shows the rows up to its threshold, those of the batch among them") {
    use { stores =>
      tenKeys(stores)
      inTask(stores.property(Numbers, 1, byKey)) {
        val open = stores.write(1)
        open.put(0, 1)
        open.put(11, 1)
        open.numbers.remove(HintedStores.key(3))
        assert(open.walked.map(_._1).toSet == Set(0L, 1L, 2L, 4L, 5L))
        val metrics = CustomMetrics.of(open.numbers.metrics)
        assert(metrics("holdfastEvictionHintCount") == 1)
        assert(metrics("holdfastLookedAtCount") >= 5)
        assert(metrics("holdfastIteratorCount") == 1)
      }
    }
  }

  test("a hint is for one version of one store of one run") {
    use { stores =>
      tenKeys(stores)
      val (name, text) = stores.property(Numbers, 1, byKey)
      val others = Seq(
        Seq(stores.property(Numbers, 0, byKey)),
        Seq(stores.property(Numbers, 2, byKey)),
        Seq(stores.property(Values, 1, byKey)),
        Seq(EvictionHint.property(UUID.randomUUID(), 0L, Numbers) -> text),
        Seq(EvictionHint.property(stores.run, 1L, Numbers) -> text),
        Seq(name -> text.dropRight(2)),
        Seq(name -> "1 something else"),
        Nil)
      others.foreach { properties =>
        inTask(properties: _*) {
          val open = stores.write(1)
          assert(open.walked.size == 10, properties)
          val metrics = CustomMetrics.of(open.numbers.metrics)
          assert(metrics("holdfastEvictionHintCount") == 0)
          assert(metrics("holdfastLookedAtCount") == 10)
          open.abort()
        }
      }
    }
  }

  test("a store for reading shows all rows, whatever the batch will remove") {
    use { stores =>
      tenKeys(stores)
      inTask(stores.property(Numbers, 1, byKey)) {
        val read = stores.readNumbers(1)
        assert(read.iterator().size == 10)
        StoreCalls.end(read)
      }
    }
  }

  test("a store outside of tasks shows all rows") {
    use { stores =>
      tenKeys(stores)
      val open = stores.write(1)
      assert(open.walked.size == 10)
      open.abort()
    }
  }

  private def byValue(stores: HintedStores, threshold: Long): Seq[(String, String)] = Seq(
    stores.property(Numbers, 1, TimesOf(Values, threshold)),
    stores.property(Values, 1, LookedInto(Some(At))))

  test("a join walks over the keys that have values up to the threshold, over each once") {
    use { stores =>
      committed(stores, 1L -> Seq(90, 20, 10), 2L -> Seq(80), 3L -> Seq(70, 30), 4L -> Seq(31))
      inTask(byValue(stores, 30): _*) {
        val open = stores.write(1)
        open.put(5, 99, 5)
        open.put(6, 99)
        assert(open.walked == Seq(1L -> 3L, 3L -> 2L, 5L -> 2L))
        // Spark shows the metrics of the values alone.
        val metrics = CustomMetrics.of(open.values.metrics)
        assert(metrics("holdfastEvictionHintCount") == 1)
        assert(metrics("holdfastLookedAtCount") > 0)
      }
    }
  }

  test("what changes after a join began to walk does not show") {
    use { stores =>
      tenKeys(stores)
      inTask(byValue(stores, 30): _*) {
        val open = stores.write(1)
        val walk = open.numbers.iterator()
        assert(walk.next().key.getLong(1) == 1)
        open.numbers.remove(HintedStores.key(1))
        open.put(2, 1, 1, 1)
        open.put(11, 1)
        assert(
          walk.map(pair => pair.key.getLong(1) -> pair.value.getLong(0)).toSeq ==
            Seq(2L -> 1L, 3L -> 1L))
      }
    }
  }

  test("a join whose values have a key without a number walks over all keys") {
    use { stores =>
      tenKeys(stores)
      inTask(byValue(stores, 30): _*) {
        val open = stores.write(1)
        open.numbers.remove(HintedStores.key(2))
        assert(open.walked.size == 9)
        assert(CustomMetrics(open.values, "holdfastEvictionHintCount") == 0)
      }
    }
  }

  test("a join with nothing expired walks over no key") {
    use { stores =>
      tenKeys(stores)
      inTask(byValue(stores, 9): _*)(assert(stores.write(1).walked.isEmpty))
    }
  }

  test("attempts at a task at the same time look into their own stores alone") {
    use { stores =>
      tenKeys(stores)
      val attempts = Seq.fill(2)(new FakeTask(byValue(stores, 0): _*))
      val open = attempts.map(task => task(stores.write(1)))
      attempts(0)(open(0).put(20, -1))
      attempts(1)(open(1).put(21, -1))
      assert(attempts(0)(open(0).walked) == Seq(20L -> 1L))
      attempts(0)(open(0).commit())
      attempts(0).end()
      assert(attempts(1)(open(1).walked) == Seq(21L -> 1L))
      attempts(1).end()
    }
  }

  test("a join whose values are of another version walks over all keys") {
    use { stores =>
      tenKeys(stores)
      inTask(
        stores.property(Numbers, 1, TimesOf(Values, 30)),
        stores.property(Values, 0, LookedInto(Some(At)))) {
        val wrong = stores.write(0)
        val open = stores.write(1)
        assert(open.walked.size == 10)
        wrong.abort()
      }
    }
  }

  test("a large walk of a batch whose plan nobody has read is told of once") {
    use { stores =>
      val open = stores.write(0)
      (1L to 10000L).foreach(number => open.put(number, number))
      open.commit()
      val large = stores.version(1)
      val small = stores.version(0)
      val walks = new WalksWithoutHint
      def walk(properties: (String, String)*): Seq[String] =
        LoggedWarnings.of(classOf[WalksWithoutHint]) {
          inTask(properties: _*)(walks.begun(stores.context, large))
        }
      val ofQuery = StreamExecution.QUERY_ID_KEY -> "some query"
      assert(walk().isEmpty)
      assert(walk(ofQuery, EvictionHint.PlansAreRead -> "true").isEmpty)
      assert(
        LoggedWarnings
          .of(classOf[WalksWithoutHint])(inTask(ofQuery)(walks.begun(stores.context, small)))
          .isEmpty)
      val said = walk(ofQuery)
      assert(said.size == 1 && said.head.contains("all 10000 rows"), said)
      assert(said.head.contains("Set spark.sql.extensions to io.holdfast.HoldfastExtensions"))
      assert(walk(ofQuery).isEmpty)
    }
  }

  test("a hint is the same when it is read from its text") {
    val nested = EventTime(
      inKey = true,
      EventTime.Column(70, 69),
      Some(EventTime.Column(2, 1)),
      never = Some(-1L))
    val hints = Seq(
      OwnTimes(At, Long.MaxValue),
      OwnTimes(nested, Long.MinValue, countedBy = Some(Values)),
      TimesOf(Values, -3L),
      LookedInto(None),
      LookedInto(Some(nested)),
      OwnTimes(nested.copy(nullNever = true), 1L))
    hints.foreach { hint =>
      assert(EvictionHint.of(EvictionHint.text(12L, hint), 12L).contains(hint))
      assert(EvictionHint.of(EvictionHint.text(12L, hint), 1L).isEmpty)
    }
  }
}

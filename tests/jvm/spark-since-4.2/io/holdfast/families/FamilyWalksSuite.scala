package io.holdfast.families

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, TestRows, TestStore}

/** What walks over the rows of a column family show, and in which order. */
class FamilyWalksSuite extends AnyFunSuite {
  private val groups = 1 to 5

  private def value(number: Long) = TestRows.value(number, "x" * 40).copy()

  /** Opens the version behind one that a change has made. */
  private def changed(change: StateStore => Unit)(look: (TestStore, StateStore) => Unit): Unit =
    TestStore.use(Provider().withFamilies) { test =>
      val before = open(test, 0)
      change(before)
      before.commit()
      val store = open(test, 1)
      look(test, store)
      store.abort()
    }

  private def open(test: TestStore, version: Long): StateStore = {
    val store = test.write(version)
    FamilyKind.all.foreach(_.create(store))
    store
  }

  test("a walk over a family with prefixes shows the rows of a prefix one after the other") {
    val kinds = FamilyKind.all.filter(kind => kind.hasPrefixes && !kind.isInOrder)
    changed { store =>
      for (time <- 1L to 6L; group <- groups; kind <- kinds)
        store.put(FamilyRows.key(group, time), value(time), kind.name)
    } { (test, store) =>
      for (reader <- Seq(store, test.read(1)); kind <- kinds) {
        val shown = reader.iterator(kind.name).map(_.key.getString(0)).toList
        val runs = shown.indices.count(i => i == 0 || shown(i - 1) != shown(i))
        assert(shown.size == 6 * groups.size)
        assert(runs == groups.size, kind.name)
      }
    }
  }

  Seq(40, 3000).foreach { size =>
    test(s"a walk over the first values of lists, of $size bytes, shows those of its moment") {
      val kinds = FamilyKind.all.filter(_.hasLists)
      val keys = groups.map(FamilyRows.key(_, 1L))
      def lists(from: Long) =
        Array.tabulate(3)(n => TestRows.value(from + n, "x" * size).copy())
      changed { store =>
        for (kind <- kinds; key <- keys) store.putList(key, lists(0L), kind.name)
      } { (test, store) =>
        kinds.foreach { kind =>
          val walks = Seq(store, test.read(1)).map(_.iterator(kind.name))
          assert(walks.map(_.next().value.getLong(0)) == Seq(0L, 0L))
          keys.zipWithIndex.foreach { case (key, i) =>
            if (i % 2 == 0) store.remove(key, kind.name)
            else store.putList(key, lists(1000L), kind.name)
          }
          walks.foreach { walk =>
            assert(walk.map(_.value.getLong(0)).toList == List.fill(keys.size - 1)(0L))
          }
          assert(store.get(keys(1), kind.name).getLong(0) == 1000L)
        }
      }
    }
  }

  private val changes: Seq[(String, (StateStore, UnsafeRow, String) => Unit)] = Seq(
    ("removed", _.remove(_, _)),
    ("put, as many as there were", _.putList(_, values(60, from = 1000L), _)),
    ("put, fewer", _.putList(_, values(1, from = 1000L), _)),
    ("added to", _.mergeList(_, values(60, from = 1000L), _)))

  private def values(count: Int, from: Long) = Array.tabulate(count)(n => value(from + n))

  changes.foreach { case (what, change) =>
    test(s"a walk over lists shows all values of its moment though the lists ahead are $what") {
      val kinds = FamilyKind.all.filter(_.hasLists)
      val keys = for (group <- groups; time <- 1L to 2L) yield FamilyRows.key(group, time)
      changed { store =>
        for (kind <- kinds; key <- keys) store.putList(key, values(60, from = 0L), kind.name)
      } { (_, store) =>
        kinds.foreach { kind =>
          val walks = Seq(
            Some(keys.size -> store.iteratorWithMultiValues(kind.name)),
            Option.when(kind.isRange)(
              groups.size -> store.prefixScanWithMultiValues(FamilyRows.time(1L), kind.name)),
            Option.when(kind.hasPrefixes && !kind.isRange)(
              2 -> store.prefixScanWithMultiValues(FamilyRows.group(1), kind.name)),
            Option.when(kind.isInOrder)(
              keys.size -> store.rangeScanWithMultiValues(None, None, kind.name)),
            Option.when(kind.hasGroupsInOrder)(
              2 -> store.rangeScanWithMultiValues(
                Some(keys(0)),
                Some(FamilyRows.key(1, 9L)),
                kind.name))).flatten.map { case (count, walk) =>
            (count, walk, walk.next().value.getLong(0))
          }
          keys.foreach(change(store, _, kind.name))
          walks.foreach { case (count, walk, first) =>
            val shown = first +: walk.map(_.value.getLong(0)).toList
            assert(shown == Seq.fill(count)(0L until 60L).flatten, kind.name)
          }
        }
      }
    }
  }

  test("ranges of times without a bound, or with bounds of two keys, have the keys between them") {
    import FamilyKind.TimeLast
    changed { store =>
      for (group <- groups; time <- -2L to 2L)
        store.merge(FamilyRows.key(group, time), value(time), TimeLast.name)
    } { (_, store) =>
      def shown(from: Option[(Int, Long)], until: Option[(Int, Long)]) = {
        val scan = store.rangeScanWithMultiValues(
          from.map((FamilyRows.key _).tupled),
          until.map((FamilyRows.key _).tupled),
          TimeLast.name)
        val keys = scan.map(row => (row.key.getString(0).last.asDigit, row.key.getLong(1))).toList
        keys.groupBy(_._1).foreach { case (_, times) => assert(times == times.sorted) }
        keys.toSet
      }
      val all = for (group <- groups; time <- -2L to 2L) yield (group, time)
      val bounds = None +: Seq((2, 0L), (2, 2L), (4, -1L)).map(Some(_))
      import Ordering.Implicits._
      for (from <- bounds; until <- bounds) {
        assert(
          shown(from, until) ==
            all.filter(key => from.forall(key >= _) && until.forall(key < _)).toSet)
      }
    }
  }
}

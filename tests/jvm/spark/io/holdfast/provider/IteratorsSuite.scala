package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, Remove, SeededTests, TestRows, TestStore}

/** Iterators and rows show the state as it was when they were asked for. */
class IteratorsSuite extends AnyFunSuite with SeededTests {

  private def hundred[A](body: TestStore => A): A =
    TestStore.use() { store =>
      store.commit(0, (0 until 100).map(n => Put(s"k$n", n.toLong)): _*)
      body(store)
    }

  private val all = (0 until 100).map(n => s"k$n" -> n.toLong).toMap

  test("changes made after it was opened do not appear in an iterator") {
    hundred { store =>
      val open = store.write(1)
      val rows = open.iterator()
      (0 until 50).foreach(n => Remove(s"k$n").applyTo(open))
      (50 until 100).foreach(n => Put(s"k$n", -1).applyTo(open))
      (100 until 1000).foreach(n => Put(s"k$n", n.toLong).applyTo(open))
      assert(TestRows.counts(rows) == all)
      assert(TestRows.counts(open).size == 950)
      open.abort()
    }
  }

  test("rows are removed while they are iterated") {
    hundred { store =>
      val open = store.write(1)
      var seen = 0
      open.iterator().foreach { row =>
        seen += 1
        if (row.value.getLong(0) % 2 == 0) open.remove(row.key)
      }
      assert(seen == 100)
      open.commit()
      assert(store.counts(2) == all.filter(_._2 % 2 == 1))
    }
  }

  test("an iterator outlives the abort of its store, and the provider") {
    hundred { store =>
      val open = store.write(1)
      Put("k0", 7).applyTo(open)
      val aborted = open.iterator()
      open.abort()
      val read = store.read(1).iterator()
      store.close()
      assert(TestRows.counts(aborted) == all.updated("k0", 7L))
      assert(TestRows.counts(read) == all)
    }
  }

  test("a read store stays as it is while many versions follow") {
    hundred { store =>
      val read = store.read(1)
      (1L to 60L).foreach { version =>
        store.commit(version, (0 until 100).map(n => Put(s"k$n", version)): _*)
      }
      assert(TestRows.counts(read) == all)
      assert(TestRows.count(read, "k5").contains(5L))
    }
  }

  test("a row keeps its bytes when its key gets another value") {
    hundred { store =>
      val open = store.write(1)
      val before = open.get(TestRows.key("k1"))
      Put("k1", 1000).applyTo(open)
      Remove("k2").applyTo(open)
      assert(before.getLong(0) == 1)
      open.abort()
    }
  }

  test("an iterator that is at its end says so") {
    TestStore.use(Provider()) { store =>
      val rows = store.read(0).iterator()
      assert(!rows.hasNext)
      assert(!rows.hasNext)
      intercept[NoSuchElementException](rows.next())
    }
  }

  test("hasNext may be called any number of times") {
    hundred { store =>
      val rows = store.read(1).iterator()
      var count = 0
      while (rows.hasNext && rows.hasNext) {
        rows.next()
        count += 1
      }
      assert(count == 100)
    }
  }
}

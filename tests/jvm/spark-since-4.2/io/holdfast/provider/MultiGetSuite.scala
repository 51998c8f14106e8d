package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit._

/** Many keys at once, which Spark asks for from 4.2 on. */
class MultiGetSuite extends AnyFunSuite {

  test("the rows of a multiGet stay what they are beside each other") {
    TestStore.use() { store =>
      store.commit(0, (1 to 100).map(i => Put(s"k$i", i.toLong)): _*)
      val keys = Array("k3", "none", "k1", "k3").map(TestRows.key(_))
      val rows = store.read(1).multiGet(keys, "default").toList
      assert(
        rows.map(row => Option(row).map(_.getLong(0))) == List(Some(3), None, Some(1), Some(3)))
    }
  }
}

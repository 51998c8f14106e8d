package io.holdfast.table

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.file.FamilyFiles

/** How much of a list is written again when values are added to it. */
class ListDeltaSuite extends AnyFunSuite {
  private val family = Family(1, "lists", false, true, "", "key", "value")
  private val keys = (0L until 4L).map(Keys.key)

  private def adding(base: Version, bytes: Int*): (Version, Int) = {
    val rows = base.open()
    rows.define(family)
    val lists =
      new ListWriter(
        rows.table(family.keyTable),
        rows.table(family.partTable),
        rowChecksums = false)
    keys.foreach { key =>
      lists.begin(key, 0, key.length, append = true)
      bytes.foreach(size => lists.add(Array.fill[Byte](size)(1), 0, size))
      lists.finish()
    }
    val delta = FamilyFiles.ofChanges(rows.changes()).length
    (rows.commit(), delta)
  }

  /** Adds a value to each list, batch after batch, and compares each delta with what is allowed. */
  private def assertDeltas(first: Seq[Int], added: Int, allowed: Int): Assertion = {
    var version = adding(Version.empty, first: _*)._1
    val deltas = (1 to 40).map { _ =>
      val (next, delta) = adding(version, added)
      version = next
      delta
    }
    val expected = keys.map(_.toVector -> (first ++ Seq.fill(40)(added))).toMap
    val content = FamilyContent.of(version)("lists")
    assert(content.map { case (key, values) => key -> values.map(_.size) } === expected)
    assert(deltas.max <= allowed)
  }

  private val kib = 1024
  private val mib = 1024 * kib

  Seq(Seq(64), Seq(8 * kib), Seq(mib), Seq(64, mib), Seq(mib, 64)).foreach { first =>
    val name = first.mkString(" and ")

    test(s"2 KiB behind values of $name bytes make a delta that is little more") {
      assertDeltas(first, 2 * kib, keys.size * 2 * kib * 5 / 4)
    }

    test(s"64 bytes behind values of $name bytes make a delta of two parts at most") {
      assertDeltas(first, 64, keys.size * 2 * (ListPart.MaxBytes + 64))
    }
  }
}

package io.holdfast.table

import org.scalatest.funsuite.AnyFunSuite

/** Of how many pages an eviction walk reads the times. */
class PagesInARowSuite extends AnyFunSuite {

  // For each of some pages whether it is taken for one that has expired as a whole.
  private def taken(pages: Seq[Boolean]): Seq[Boolean] = {
    val inARow = new PagesInARow
    pages.map { asAWhole =>
      val taken = inARow.takesNext()
      if (!taken) inARow.looked(asAWhole)
      taken
    }
  }

  test("where all pages have expired few are looked at, however many there are") {
    val all = taken(Seq.fill(100000)(true))
    assert(all.take(4).forall(_ == false))
    assert(all.count(_ == false) <= 100000 / 33 + 8)
  }

  test("one page that has not expired as a whole begins anew") {
    val found = taken(Seq.fill(1000)(true) ++ Seq.fill(33)(false) ++ Seq.fill(4)(true) :+ true)
    val others = found.slice(1000, 1033)
    assert(others.dropWhile(identity).forall(_ == false))
    assert(found.takeRight(5) === Seq(false, false, false, false, true))
  }

  test("no more pages are taken than have expired before") {
    (0 to 200).foreach { expired =>
      val found = taken(Seq.fill(expired)(true) ++ Seq.fill(200)(false))
      assert(found.drop(expired).count(identity) <= expired, s"behind $expired")
    }
  }
}

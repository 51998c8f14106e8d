package org.apache.spark.sql.execution.python.streaming.holdfast

import java.util.{List => JavaList, Map => JavaMap}

import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

/** What of the state of many keys goes along in one answer. */
class RoomSuite extends AnyFunSuite {
  private def taken(room: Room, values: Any*): AnyRef =
    room.all(values.iterator)(value => Array[AnyRef](value.asInstanceOf[AnyRef]))

  test("a value goes while there is room, however large; after it nothing does") {
    val room = new Room(100)
    assert(taken(room, "x" * 1000) !== Room.NotSent)
    assert(taken(room, "x") === Room.NotSent)
    assert(taken(room) === Room.NotSent)
    assert(room.one(null)(fail("it was read")) === Room.NotSent)
  }

  test("of a list all goes or nothing, and it is not read to its end for nothing") {
    val read = Iterator.continually("x" * 20).tapEach(_ => reads += 1)
    assert(new Room(1000).all(read)(value => value) === Room.NotSent)
    assert(reads <= 1000 / 20)
  }

  private var reads = 0

  test("what is inside of values counts, and rows of fixed size do") {
    val large = "x" * 10000
    Seq[Any](
      large,
      large.getBytes,
      JavaList.of(large),
      JavaMap.of(1, large),
      JavaMap.of(large, 1),
      Row(1, large),
      JavaList.of(Row(Row(large)))).foreach { value =>
      val room = new Room(10000)
      taken(room, value)
      assert(taken(room) === Room.NotSent, value.getClass)
    }
    assert(taken(new Room(10000), Seq.fill(1000)(1L): _*) === Room.NotSent)
  }
}

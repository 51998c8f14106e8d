package io.holdfast.sim.families

import io.holdfast.sim.world.Call._
import io.holdfast.sim.world.FamilyPlan.{Kept, KeptUntil, TimersInOrder, TimersOfKeys}
import io.holdfast.sim.world.{Call, Key, Value}

/** How an operator does what it does, by calls of its store. For one thread.
  *
  * @param salt
  *   by how much values differ from those of other attempts
  */
final class Calls(store: CheckedStore, salt: Long) {

  def run(call: Call): Unit = call match {
    case Define(name, kind) => store.define(name, kind)
    case Drop(name) => store.drop(name)
    case Put(name, key, value) => store.put(name, key, salted(value))
    case PutList(name, key, values) => store.putList(name, key, values.map(salted))
    case Append(name, key, values) =>
      store.append(name, key, values.map(salted))
      if (store.has(name)) { val _ = store.values(name, key) }
    case Remove(name, key) => store.remove(name, key)
    case Empty(name) => store.walk(name, _ => true)(store.remove(name, _))
    case RemoveGroup(name, group) => store.group(name, group)(store.remove(name, _))
    case RemoveRange(name, from, until) => store.removeRange(name, from, until)
    case Walk(name) => store.walk(name)
    case LookAtGroup(name, group) => store.group(name, group)(_ => ())
    case LookAtRange(name, from, until) => store.range(name, from, until)
    case Hold(name) => store.hold(name)
    case Keep(number, value) => if (areThere(Kept, KeptUntil)) keep(number, salted(value))
    case Expire(until) => if (areThere(Kept, KeptUntil)) expire(until)
    case SetTimer(number, at) => if (areThere(TimersOfKeys, TimersInOrder)) setTimer(number, at)
    case ClearTimers(number) =>
      if (areThere(TimersOfKeys, TimersInOrder))
        store.group(TimersOfKeys, number)(clearTimer)
    case Fire(until) =>
      if (areThere(TimersOfKeys, TimersInOrder))
        store.walk(TimersInOrder, _.id <= until)(clearTimer)
  }

  private[this] def areThere(names: String*): Boolean = names.forall(store.has)

  private[this] def keep(number: Long, value: Value): Unit = {
    val key = keyOf(number)
    store.values(Kept, key).foreach(old => store.remove(KeptUntil, Key(number, old.time)))
    store.put(Kept, key, value)
    store.put(KeptUntil, Key(number, value.time), Mark)
  }

  // A value that was put anew has another row in the index.
  private[this] def expire(until: Long): Unit =
    store.walk(KeptUntil, _.id <= until) { index =>
      val key = keyOf(index.group)
      if (store.values(Kept, key).exists(_.time <= until)) store.remove(Kept, key)
      store.remove(KeptUntil, index)
    }

  private[this] def setTimer(number: Long, at: Long): Unit = {
    store.put(TimersOfKeys, Key(number, at), Mark)
    store.put(TimersInOrder, Key(number, at), Mark)
  }

  private[this] def clearTimer(timer: Key): Unit = {
    store.remove(TimersOfKeys, timer)
    store.remove(TimersInOrder, timer)
  }

  private[this] def keyOf(number: Long): Key = Key(number, 0L)

  private[this] def salted(value: Value): Value = value.copy(count = value.count + salt)

  private[this] val Mark = Value(0L, 0L)
}

package io.holdfast.sim.world

/** Something that an operator does with the column families of its store. Where there is no such family,
  * or it is of another kind, the store has to refuse it and go on.
  */
sealed trait Call

object Call {

  /** Defines a family, as every task does with those that it knows; perhaps in another way. */
  final case class Define(name: String, kind: FamilyKind) extends Call

  final case class Drop(name: String) extends Call

  final case class Put(name: String, key: Key, value: Value) extends Call
  final case class PutList(name: String, key: Key, values: Vector[Value]) extends Call

  /** Adds values to the list of a key: by `merge` if it is one, else by `mergeList`. */
  final case class Append(name: String, key: Key, values: Vector[Value]) extends Call

  final case class Remove(name: String, key: Key) extends Call

  /** Removes all rows, in a walk over them. */
  final case class Empty(name: String) extends Call

  /** Removes the rows of a group, in a scan of them. */
  final case class RemoveGroup(name: String, group: Long) extends Call

  /** Removes rows by `deleteRange`. */
  final case class RemoveRange(name: String, from: Key, until: Key) extends Call

  /** Looks at all rows, at those of a group, at those of a range. */
  final case class Walk(name: String) extends Call
  final case class LookAtGroup(name: String, group: Long) extends Call
  final case class LookAtRange(name: String, from: Key, until: Key) extends Call

  /** Begins a walk that ends after the commit. */
  final case class Hold(name: String) extends Call

  /** Gives the variable with times to live a value, and its index a row in the place of the one that it
    * has.
    */
  final case class Keep(number: Long, value: Value) extends Call

  /** Removes the values of that variable whose time is over, in a walk over the index. */
  final case class Expire(until: Long) extends Call

  final case class SetTimer(number: Long, at: Long) extends Call

  /** Removes all timers of a key. */
  final case class ClearTimers(number: Long) extends Call

  /** Removes the timers whose time has come, in a walk over them. */
  final case class Fire(until: Long) extends Call
}

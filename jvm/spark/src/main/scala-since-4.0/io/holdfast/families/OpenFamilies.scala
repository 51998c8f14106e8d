package io.holdfast.families

import scala.collection.mutable

/** The column families that were asked for in a store that is open, by name. For one thread.
  *
  * @param open
  *   opens one that was not asked for before, or fails
  */
final private[holdfast] class OpenFamilies[A <: AnyRef](open: (String, String) => A) {
  private[this] val opened = mutable.HashMap.empty[String, A]
  // Operators ask for the same one many times in a row, by the same string.
  private[this] var lastName: String = null
  private[this] var last: A = _

  /** @param operation
    *   what it is asked for, in messages
    */
  def apply(operation: String, name: String): A =
    if (name eq lastName) last
    else {
      val found = opened.getOrElseUpdate(name, open(operation, name))
      lastName = name
      last = found
      found
    }

  /** Forgets a family that is no more, or is another one. */
  def forget(name: String): Unit = {
    opened -= name
    lastName = null
  }
}

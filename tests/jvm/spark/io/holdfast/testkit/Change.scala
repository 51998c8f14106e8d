package io.holdfast.testkit

import org.apache.spark.sql.execution.streaming.state.StateStore

/** A change of one row of [[TestRows]]. */
sealed trait Change {
  def name: String
  def applyTo(store: StateStore): Unit
  def applyTo(state: TestRows.State): TestRows.State
}

final case class Put(name: String, count: Long, note: String = null) extends Change {

  override def applyTo(store: StateStore): Unit =
    store.put(TestRows.key(name), TestRows.value(count, note))

  override def applyTo(state: TestRows.State): TestRows.State =
    state.updated(
      TestRows.keyImage(TestRows.key(name)),
      TestRows.valueImage(TestRows.value(count, note)))

  override def toString: String =
    s"Put($name, $count, ${Option(note).fold("null")(text => s"${text.length} characters")})"
}

final case class Remove(name: String) extends Change {

  override def applyTo(store: StateStore): Unit = store.remove(TestRows.key(name))

  override def applyTo(state: TestRows.State): TestRows.State =
    state - TestRows.keyImage(TestRows.key(name))
}

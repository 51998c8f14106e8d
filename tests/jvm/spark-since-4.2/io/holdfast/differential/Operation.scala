package io.holdfast.differential

import org.apache.spark.sql.execution.streaming.state.StateStore

import io.holdfast.differential.Rows.State

/** What a task does to a writable store, and to a plain map in its place. */
sealed trait Operation {

  /** Does it to a store; returns the rows that the store shows of it. */
  def on(store: StateStore): State

  /** Does it to a map; returns the map afterwards and the rows that a store has to show. */
  def on(state: State): (State, State)
}

/** Puts a row and gets it. */
final case class Put(key: Key, value: Value) extends Operation {

  override def on(store: StateStore): State = {
    store.put(Rows.key(key), Rows.value(value))
    Operation.get(store, key)
  }

  override def on(state: State): (State, State) = (state.updated(key, value), Map(key -> value))
}

/** Removes a row, which need not be there, and gets it. */
final case class Remove(key: Key) extends Operation {

  override def on(store: StateStore): State = {
    store.remove(Rows.key(key))
    Operation.get(store, key)
  }

  override def on(state: State): (State, State) = (state - key, Map.empty)
}

final case class Get(key: Key) extends Operation {
  override def on(store: StateStore): State = Operation.get(store, key)

  override def on(state: State): (State, State) = (state, state.filter(_._1 == key))
}

/** Looks at all rows. */
case object Iterate extends Operation {
  override def on(store: StateStore): State = Rows.state(store.iterator())

  override def on(state: State): (State, State) = (state, state)
}

/** Removes rows of odd counts while it looks at all rows, as operators with timeouts do. */
case object RemoveOdd extends Operation {

  override def on(store: StateStore): State = Rows.state(store.iterator().map { pair =>
    if (isOdd(Rows.valueOf(pair.value))) store.remove(pair.key)
    pair
  })

  override def on(state: State): (State, State) =
    (state.filterNot { case (_, value) => isOdd(value) }, state)

  private def isOdd(value: Value) = value.count % 2 != 0
}

/** Looks at the rows of a group by a prefix scan. */
final case class Scan(group: String) extends Operation {
  override def on(store: StateStore): State = Rows.state(store.prefixScan(Rows.prefix(group)))

  override def on(state: State): (State, State) = (state, state.filter(_._1.group == group))
}

/** Puts other rows in the place of a group's, as session windows do. */
final case class Replace(group: String, names: List[String], value: Value) extends Operation {

  override def on(store: StateStore): State = {
    val before = Rows.state(store.prefixScan(Rows.prefix(group)))
    before.keysIterator.foreach(key => store.remove(Rows.key(key)))
    rows.foreach { case (key, value) => store.put(Rows.key(key), Rows.value(value)) }
    before
  }

  override def on(state: State): (State, State) = {
    val (before, others) = state.partition(_._1.group == group)
    (others ++ rows, before)
  }

  private def rows: State = names.map(name => Key(group, name) -> value).toMap
}

object Operation {

  def allOn(state: State, operations: Seq[Operation]): State =
    operations.foldLeft(state)((rows, operation) => operation.on(rows)._1)

  private[differential] def get(store: StateStore, key: Key): State =
    Option(store.get(Rows.key(key))).map(row => key -> Rows.valueOf(row)).toMap
}

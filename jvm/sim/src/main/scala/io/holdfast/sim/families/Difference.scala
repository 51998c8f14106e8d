package io.holdfast.sim.families

import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStoreIterator,
  UnsafeRowPair
}

import io.holdfast.sim.world.{Content, FamilyContent, FamilyContents, Key, RowContent, Rows, Value}

/** Holds a store against what it must hold, and says in words what is different. */
object Difference {

  /** Of all that a store holds. */
  def of(expected: Content, found: ReadStateStore, rows: Rows): Option[String] = expected match {
    case RowContent(expected) => ofRows(expected, found.iterator())
    case expected: FamilyContents => ofFamilies(expected, found, rows)
  }

  def ofRows(expected: Map[Key, Value], found: Iterator[UnsafeRowPair]): Option[String] = {
    var rest = expected
    var wrong = Option.empty[String]
    found.foreach { pair =>
      val key = Rows.keyOf(pair.key)
      val value = Rows.valueOf(pair.value)
      if (wrong.isEmpty && !rest.get(key).contains(value)) {
        wrong = Some(s"$key -> $value, expected ${expected.get(key)}")
      }
      rest -= key
    }
    wrong.orElse(rest.headOption.map { case (key, value) => s"no $key, expected $value" })
  }

  private def ofFamilies(
      expected: FamilyContents,
      found: ReadStateStore,
      rows: Rows): Option[String] = {
    val names = found.allColumnFamilyNames
    if (names != expected.byName.keySet)
      Some(
        s"the column families ${names.toSeq.sorted.mkString(", ")}, expected " +
          expected.byName.keys.toSeq.sorted.mkString(", "))
    else
      expected.byName.toSeq
        .sortBy(_._1)
        .iterator
        .flatMap { case (name, family) =>
          val shown = new Shown(family.kind, rows).addAll(walk(found, name, family))
          shown.difference(family.rows).map(found => s"in column family '$name' $found")
        }
        .nextOption()
  }

  /** A walk over all rows of a family, each as often as its key has values. */
  def walk(
      store: ReadStateStore,
      name: String,
      family: FamilyContent): StateStoreIterator[UnsafeRowPair] =
    if (family.kind.lists) store.iteratorWithMultiValues(name) else store.iterator(name)
}

package io.holdfast.sim.families

import scala.collection.mutable

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}

import io.holdfast.sim.world._

/** A store with column families beside its model: what is done is done to both, and what is read has to
  * be the same. For one thread.
  *
  * @param evolves
  *   whether values may get other columns while there are some
  * @param base
  *   what the store holds
  * @param wrong
  *   ends the history, with what was found
  */
final class CheckedStore(
    store: StateStore,
    rows: Rows,
    evolves: Boolean,
    base: FamilyContents,
    wrong: String => Nothing) {
  private[this] var now = base
  private[this] val held = mutable.ArrayBuffer.empty[() => Unit]

  /** What the store holds by now. */
  def content: FamilyContents = now

  def has(name: String): Boolean = now.get(name).isDefined

  def define(name: String, kind: FamilyKind): Unit = {
    def create(): Unit = store.createColFamilyIfAbsent(
      name,
      kind.scan.saidKeySchema,
      kind.valueSchema,
      kind.scan.encoder,
      kind.lists,
      FamilyContents.isInternal(name))
    val before = now.get(name)
    val fits = before.forall(family => family.rows.isEmpty || kind.takes(family.kind, evolves))
    if (fits && name != FamilyContents.Default) {
      create()
      now = now.defined(name, kind)
    } else refused(s"a definition of $name as $kind")(create())
  }

  def drop(name: String): Unit =
    if (name == FamilyContents.Default || FamilyContents.isInternal(name))
      refused(s"the removal of $name")(store.removeColFamilyIfExists(name): Unit)
    else {
      val was = store.removeColFamilyIfExists(name)
      if (was != has(name)) wrong(s"says $was of whether it had $name to remove")
      now = now.without(name)
    }

  def put(name: String, key: Key, value: Value): Unit =
    changing(s"put in $name", name)(_ => true) { kind =>
      store.put(rows.key(key), rows.value(value, kind.wide), name)
    }(_.updated(key, Vector(value)))

  def putList(name: String, key: Key, values: Vector[Value]): Unit =
    changing(s"putList in $name", name)(_.lists) { kind =>
      store.putList(rows.key(key), copies(values, kind), name)
    }(_.updated(key, values))

  def append(name: String, key: Key, values: Vector[Value]): Unit =
    changing(s"merge in $name", name)(_.lists) { kind =>
      if (values.size == 1) store.merge(rows.key(key), rows.value(values.head, kind.wide), name)
      else store.mergeList(rows.key(key), copies(values, kind), name)
    }(family => family.updated(key, family.values(key) ++ values))

  def remove(name: String, key: Key): Unit =
    changing(s"remove in $name", name)(_ => true)(_ => store.remove(rows.key(key), name))(
      _.updated(key, Vector.empty))

  def removeRange(name: String, from: Key, until: Key): Unit =
    changing(s"deleteRange in $name", name)(_.scan.hasRanges) { _ =>
      store.deleteRange(rows.key(from).copy(), rows.key(until).copy(), name)
    }(family => family.without(family.between(from, until).rows.keys))

  /** The values of a key, of which the store has to have the same. */
  def values(name: String, key: Key): Vector[Value] = {
    val family = now.byName(name)
    val expected = family.values(key)
    val first = Option(store.get(rows.key(key), name)).map(valueOf(name, family, _))
    if (first != expected.headOption)
      wrong(s"has $first for $key in $name, expected ${expected.headOption}")
    if (family.kind.lists) {
      val all = store.valuesIterator(rows.key(key), name).map(valueOf(name, family, _)).toVector
      if (all != expected) wrong(s"has $all for $key in $name, expected $expected")
    }
    expected
  }

  /** Shows all rows of a family. */
  def walk(name: String): Unit = walk(name, _ => true)(_ => ())

  /** Shows rows of a family, from the first on as long as their keys are wanted, and does something with
    * each key.
    */
  def walk(name: String, wanted: Key => Boolean)(use: Key => Unit): Unit =
    now.get(name) match {
      case None => refused(s"a walk over $name")(store.iterator(name).close())
      case Some(family) =>
        val expected = family.rows.filter { case (key, _) => wanted(key) }
        show(s"a walk over $name", family, Difference.walk(store, name, family), expected, wanted)(
          use)
    }

  /** Shows the rows of a group, and does something with each key. */
  def group(name: String, group: Long)(use: Key => Unit): Unit = {
    def scan(kind: FamilyKind): StateStoreIterator[UnsafeRowPair] = {
      val prefix = rows.prefix(group)
      if (kind.lists) store.prefixScanWithMultiValues(prefix, name)
      else store.prefixScan(prefix, name)
    }
    now.get(name) match {
      case Some(family) if family.kind.scan.hasGroups =>
        val expected = family.ofGroup(group).rows
        show(s"a scan of group $group of $name", family, scan(family.kind), expected)(use)
      case Some(family) if !family.kind.scan.hasRanges =>
        refused(s"a scan of a group of $name")(scan(family.kind).close())
      case _ =>
    }
  }

  /** Shows the rows of a range. */
  def range(name: String, from: Key, until: Key): Unit =
    now.get(name).filter(_.kind.scan.hasRanges).foreach { family =>
      val start = Some(rows.key(from).copy())
      val end = Some(rows.key(until).copy())
      val scan =
        if (family.kind.lists) store.rangeScanWithMultiValues(start, end, name)
        else store.rangeScan(start, end, name)
      val expected = family.between(from, until).rows
      show(s"a scan of $name from $from until $until", family, scan, expected)(_ => ())
    }

  /** Begins a walk that shows what is there now whenever it ends. */
  def hold(name: String): Unit = now.get(name).foreach { family =>
    val walk = Difference.walk(store, name, family)
    held += (() => show(s"a walk that was held over $name", family, walk, family.rows)(_ => ()))
  }

  /** Ends the walks that were held. */
  def endWalks(): Unit = held.foreach(_())

  private[this] def show(
      what: String,
      family: FamilyContent,
      walk: StateStoreIterator[UnsafeRowPair],
      expected: Map[Key, Vector[Value]],
      wanted: Key => Boolean = _ => true)(use: Key => Unit): Unit = {
    val shown = new Shown(family.kind, rows)
    var goesOn = true
    while (goesOn && walk.hasNext) {
      val pair = walk.next()
      goesOn = wanted(Rows.keyOf(pair.key))
      if (goesOn) use(shown.add(pair))
    }
    walk.close()
    shown.difference(expected).foreach(found => wrong(s"shows in $what $found"))
  }

  // Changes a family if it is there and of a kind that takes the change.
  private[this] def changing(what: String, name: String)(takes: FamilyKind => Boolean)(
      onStore: FamilyKind => Unit)(onModel: FamilyContent => FamilyContent): Unit =
    now.get(name) match {
      case Some(family) if takes(family.kind) =>
        onStore(family.kind)
        now = now.updated(name, onModel(family))
      case before => refused(what)(onStore(before.fold(Narrow)(_.kind)))
    }

  private[this] def refused(what: String)(body: => Unit): Unit = {
    val isRefused =
      try {
        body
        false
      } catch { case _: SparkThrowable => true }
    if (!isRefused) wrong(s"does not refuse $what")
  }

  private[this] def copies(values: Vector[Value], kind: FamilyKind): Array[UnsafeRow] =
    values.map(rows.value(_, kind.wide).copy()).toArray

  private[this] def valueOf(name: String, family: FamilyContent, row: UnsafeRow): Value = {
    if (!rows.isValue(row, family.kind.wide)) wrong(s"has a value of other columns in $name")
    Rows.valueOf(row)
  }

  private[this] val Narrow = FamilyKind(Scan.Keys, lists = false)
}

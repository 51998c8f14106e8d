package io.holdfast.families

import java.nio.file.Path

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}
import org.scalacheck.{Gen, Prop}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, SeededTests, TemporaryFolder, TestRows}

/** Column families in Holdfast and in Spark's RocksDB provider, side by side: the same operations have
  * the same results, and lead to the same rows.
  */
class FamilySideBySideSuite extends AnyFunSuite with SeededTests {
  import FamilySideBySideSuite._

  Seq(false, true).foreach { checksums =>
    val how = if (checksums) "with row checksums" else "without row checksums"
    property(s"operations of families and lists give what RocksDB gives, $how", 25) {
      Prop.forAll(operations) { list =>
        val settings =
          Provider().set(Provider.RowChecksums -> checksums).minDeltas(3)
        TemporaryFolder.use { root =>
          val sides = Seq(Provider.Holdfast, RocksDB).map { name =>
            new Side(settings.by(name), root.resolve(name.split('.').last))
          }
          try {
            list.iterator.zipWithIndex
              .flatMap { case (operation, at) =>
                val ours = sides.head.run(operation)
                val theirs = sides.last.run(operation)
                Option.when(ours != theirs)(
                  s"operation $at ($operation): $ours here and $theirs in RocksDB")
              }
              .nextOption()
              .fold(Prop.passed)(Prop.falsified :| _)
          } finally sides.foreach(_.close())
        }
      }
    }
  }
}

object FamilySideBySideSuite {
  private val RocksDB =
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  sealed trait Operation
  final case class Put(kind: FamilyKind, group: Int, time: Long, value: Int) extends Operation
  final case class PutList(kind: FamilyKind, group: Int, time: Long, count: Int) extends Operation
  final case class Merge(kind: FamilyKind, group: Int, time: Long, count: Int) extends Operation
  final case class Remove(kind: FamilyKind, group: Int, time: Long) extends Operation
  final case class Get(kind: FamilyKind, group: Int, time: Long) extends Operation
  final case class ScanGroup(kind: FamilyKind, group: Int, time: Long) extends Operation
  final case class ScanRange(
      kind: FamilyKind,
      from: Option[(Int, Long)],
      until: Option[(Int, Long)])
      extends Operation
  final case class DeleteRange(kind: FamilyKind, from: Long, until: Long) extends Operation
  final case class Drop(kind: FamilyKind) extends Operation
  final case class Commit(reopen: Boolean) extends Operation
  case object Abort extends Operation

  private val kind = Gen.oneOf(FamilyKind.all)
  private val lists = Gen.oneOf(FamilyKind.all.filter(_.hasLists))
  private val ranges = Gen.oneOf(FamilyKind.all.filter(_.isRange))
  private val prefixed = Gen.oneOf(FamilyKind.all.filter(_.hasPrefixes))
  private val ordered =
    Gen.oneOf(FamilyKind.all.filter(kind => kind.isInOrder || kind.hasGroupsInOrder))
  private val group = Gen.choose(0, 4)
  private val time = Gen.oneOf(Gen.choose(-3L, 6L), Gen.oneOf(Long.MinValue, Long.MaxValue))
  // Most of the same group: only the times of one are in order everywhere.
  private val bound = Gen.zip(Gen.frequency(3 -> Gen.const(2), 1 -> group), time)
  private val count = Gen.frequency(10 -> Gen.choose(1, 3), 1 -> Gen.const(40))

  private val operations: Gen[List[Operation]] = {
    val operation = Gen.frequency[Operation](
      20 -> Gen.zip(kind, group, time, Gen.choose(0, 99)).map((Put.apply _).tupled),
      8 -> Gen.zip(lists, group, time, count).map((PutList.apply _).tupled),
      20 -> Gen.zip(lists, group, time, count).map((Merge.apply _).tupled),
      8 -> Gen.zip(kind, group, time).map((Remove.apply _).tupled),
      8 -> Gen.zip(kind, group, time).map((Get.apply _).tupled),
      4 -> Gen.zip(prefixed, group, time).map((ScanGroup.apply _).tupled),
      4 -> Gen.zip(ordered, Gen.option(bound), Gen.option(bound)).map((ScanRange.apply _).tupled),
      2 -> Gen.zip(ranges, time, time).map((DeleteRange.apply _).tupled),
      1 -> kind.map(Drop(_)),
      5 -> Gen.oneOf(true, false).map(Commit(_)),
      1 -> Gen.const(Abort))
    Gen.choose(1, 80).flatMap(Gen.listOfN(_, operation)).map(_ :+ Commit(reopen = true))
  }

  /** One provider with a store that is open. */
  private final class Side(settings: Provider, root: Path) {
    private var provider: StateStoreProvider = open()
    private var version = 0L
    private var store: StateStore = write()

    private def open(): StateStoreProvider =
      settings.withFamilies.open(root)

    private def write(): StateStore = {
      val store = provider.getStore(version, None, false, false)
      FamilyKind.all.foreach(_.create(store))
      store
    }

    def close(): Unit = {
      if (!store.hasCommitted) store.abort()
      provider.close()
    }

    def run(operation: Operation): Any = operation match {
      case Put(kind, group, time, value) =>
        store.put(
          FamilyRows.key(group, time),
          TestRows.value(value.toLong, if (value < 10) larger else null),
          kind.name)
      case PutList(kind, group, time, count) =>
        store.putList(FamilyRows.key(group, time), values(count), kind.name)
      case Merge(kind, group, time, 1) =>
        store.merge(FamilyRows.key(group, time), values(1).head, kind.name)
      case Merge(kind, group, time, count) =>
        store.mergeList(FamilyRows.key(group, time), values(count), kind.name)
      case Remove(kind, group, time) => store.remove(FamilyRows.key(group, time), kind.name)
      case Get(kind, group, time) =>
        val key = FamilyRows.key(group, time)
        val all =
          if (kind.hasLists) store.valuesIterator(key, kind.name).map(FamilyRows.bytes).toVector
          else Vector.empty
        (FamilyRows.bytes(store.get(key, kind.name)), store.keyExists(key, kind.name), all)
      case ScanGroup(kind, group, time) =>
        val prefix = if (kind.isRange) FamilyRows.time(time) else FamilyRows.group(group)
        val rows = FamilyRows.pairs(
          if (kind.hasLists) store.prefixScanWithMultiValues(prefix, kind.name)
          else store.prefixScan(prefix, kind.name))
        // In any order, but that of the values of a key.
        if (kind.hasGroupsInOrder) FamilyRows.byTime(rows) else rows.groupBy(_._1)
      case ScanRange(kind, from, until) =>
        val start = from.map((FamilyRows.key _).tupled)
        val end = until.map((FamilyRows.key _).tupled)
        val rows = FamilyRows.pairs(
          if (kind.hasLists) store.rangeScanWithMultiValues(start, end, kind.name)
          else store.rangeScan(start, end, kind.name))
        if (kind.hasGroupsInOrder) FamilyRows.byGroup(rows) else FamilyRows.byTime(rows)
      case DeleteRange(kind, from, until) =>
        if (from < until) {
          store.deleteRange(FamilyRows.key(2, from), FamilyRows.key(2, until), kind.name)
        }
      case Drop(kind) =>
        // An internal one cannot be removed.
        val removed = !kind.name.startsWith("$") && store.removeColFamilyIfExists(kind.name)
        val names = store.allColumnFamilyNames
        kind.create(store)
        (removed, names)
      case Commit(reopen) =>
        version = store.commit()
        if (reopen) {
          provider.close()
          provider = open()
        } else provider.doMaintenance()
        store = write()
        contents
      case Abort =>
        store.abort()
        store = write()
        contents
    }

    // In the order of ranges; else in any.
    private def contents: Seq[Any] = FamilyKind.all.map { kind =>
      val rows = kind.rows(store)
      if (kind.isInOrder) FamilyRows.byTime(rows) else rows.groupBy(_._1)
    }

    private var made = 0L

    private def values(count: Int) = Array.fill(count) {
      made += 1
      TestRows.value(made, if (made % 7 == 0) larger else "x" * (made % 50).toInt).copy()
    }

    // Than a part of a list.
    private def larger = "x" * 3000
  }
}

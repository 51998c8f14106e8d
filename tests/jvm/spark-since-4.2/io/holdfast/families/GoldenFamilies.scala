package io.holdfast.families

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}
import org.json4s._
import org.json4s.jackson.JsonMethods

import io.holdfast.testkit.{Provider, TestRows}

/** A store with column families in `tests/golden-families`, by the name of its folder there. */
final case class GoldenFamilies(codec: String, rowChecksums: Boolean) {
  val name: String = if (rowChecksums) s"$codec-rowchecksums" else codec

  /** The folder of all its files. */
  val folder: Path = Paths.get(sys.props("holdfast.tests"), "golden-families").resolve(name)

  /** What a provider takes for the `state` folder of a checkpoint. */
  val root: Path = folder.resolve("state")

  val expectedFile: Path = folder.resolve("expected.json")

  def settings: Provider = Provider().codec(codec).rowChecksums(rowChecksums).withFamilies

  def expected: JValue = JsonMethods.parse(Files.readString(expectedFile))
}

/** What the golden stores with column families hold. */
object GoldenFamilies {
  import FamilyKind._

  val all: Seq[GoldenFamilies] = for {
    codec <- Provider.codecs
    rowChecksums <- Seq(false, true)
  } yield GoldenFamilies(codec, rowChecksums)

  /** The version that has a snapshot beside its delta. */
  val snapshotVersion = 4L

  private def key(number: Int) = FamilyRows.key(number, number * 10L)

  private def value(number: Int, note: String = null) = TestRows.value(number.toLong, note).copy()

  /** The changes of each version, from the first on: families of every kind, lists of several parts, a
    * family that goes and one that takes its id, a version without changes, values that are larger than a
    * part.
    */
  val versions: Seq[StateStore => Unit] = Seq(
    store => {
      Seq(Plain, Lists, Prefix, Range).foreach(_.create(store))
      store.put(TestRows.key("of the default family"), value(0))
      (1 to 4).foreach(n => store.put(key(n), value(n, s"note $n"), Plain.name))
      (1 to 4).foreach(n => store.put(key(n), value(n), Range.name))
      (1 to 60).foreach(n => store.merge(key(1), value(n, "in a list"), Lists.name))
      store.putList(key(2), Array(value(1), value(2)), Lists.name)
      store.put(key(5), value(5), Prefix.name)
    },
    store => {
      store.put(key(2), value(22, "äöü"), Plain.name)
      store.remove(key(3), Plain.name)
      store.mergeList(key(1), Array(value(61), value(62)), Lists.name)
      store.remove(key(2), Lists.name)
      store.merge(key(3), value(3), Lists.name)
      store.remove(key(1), Range.name)
    },
    _ => (),
    store => {
      store.removeColFamilyIfExists(Prefix.name)
      PrefixLists.create(store)
      store.putList(key(1), Array(value(7), value(8)), PrefixLists.name)
      store.putList(key(1), Array(value(9)), Lists.name)
    },
    store => {
      (1 to 100).foreach(n => store.merge(key(4), value(n, "x" * 30), PrefixLists.name))
      store.put(key(9), value(9), Range.name)
    },
    store => {
      store.putList(key(5), Array(value(1, "y" * 1500), value(2), value(3)), Lists.name)
      store.merge(key(4), value(101, "y" * 1500), PrefixLists.name)
    })

  /** All families of a version, in the order of their names, and their rows in the order of what they
    * are written as.
    */
  def content(store: ReadStateStore): JValue = JArray(
    (Default +: FamilyKind.all.filter(kind => store.allColumnFamilyNames(kind.name)))
      .sortBy(_.name)
      .map { kind =>
        JObject(
          "name" -> JString(kind.name),
          "rows" -> JArray(rows(store, kind).sortBy(JsonMethods.compact(_)).toList))
      }
      .toList)

  private def rows(store: ReadStateStore, kind: FamilyKind): Seq[JValue] = {
    val pairs =
      if (kind.hasLists) store.iteratorWithMultiValues(kind.name) else store.iterator(kind.name)
    val all = pairs.map(pair => keyOf(pair.key) -> valueOf(pair.value)).toVector
    pairs.close()
    all.groupBy(_._1).toSeq.map { case (key, values) =>
      JObject("key" -> key, "values" -> JArray(values.map(_._2).toList))
    }
  }

  private def keyOf(key: UnsafeRow): JValue =
    if (key.numFields == 1) JObject("name" -> JString(key.getString(0)))
    else JObject("group" -> JString(key.getString(0)), "time" -> JInt(key.getLong(1)))

  private def valueOf(value: UnsafeRow): JValue = JObject(
    "count" -> JInt(value.getLong(0)),
    "note" -> (if (value.isNullAt(1)) JNull else JString(value.getString(1))))
}

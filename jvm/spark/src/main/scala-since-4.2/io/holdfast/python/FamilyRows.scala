package io.holdfast.python

import java.io.{DataInputStream, DataOutputStream}
import java.util.{Arrays, UUID}

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreProvider,
  StateStoreProviderId
}
import org.apache.spark.sql.execution.streaming.state.holdfast.WrittenSchemas
import org.apache.spark.sql.types.StructType

import io.holdfast.families.EncoderText

/** The rows of stores with column families, read and written by the provider of the store: in the order
  * of tables, with the number of one in front of each row, and a row for each value of a list, in their
  * order. One thread for each store.
  */
private[holdfast] object FamilyRows {
  private val Default = StateStore.DEFAULT_COL_FAMILY_NAME

  // What every store has, whether there are rows in it or not; Spark's operators have none there.
  private val NoFamily = {
    val schema = new StructType().add("key", "long")
    val encoder = """{"keyStateEncoderType":"NoPrefixKeyStateEncoderSpec"}"""
    DescribedFamily(
      0,
      Default,
      encoder,
      schema.json,
      schema.json,
      false,
      false,
      Map.empty,
      Map.empty)
  }

  def open(
      store: DescribedStore,
      families: Seq[DescribedFamily],
      hadoopConf: Configuration): StateStoreProvider = {
    val default = families.find(_.name == Default).getOrElse(NoFamily)
    StateStoreProvider.createAndInit(
      StateStoreProviderId(store.id, UUID.randomUUID()),
      default.key,
      default.value,
      EncoderText.read(default.keyEncoder, default.key),
      useColumnFamilies = true,
      store.conf,
      hadoopConf,
      useMultipleValuesPerKey = default.hasManyValues,
      stateSchemaProvider = Some(WrittenSchemas.of(families.map { family =>
        (family.name, schemas(family.keySchemas), schemas(family.valueSchemas))
      })))
  }

  /** Writes all rows of a store to a file.
    *
    * @return
    *   number of rows, of which each value of a list is one
    * @throws IllegalStateException
    *   if the store has a column family that is none of these
    */
  def read(
      store: DescribedStore,
      families: Seq[DescribedFamily],
      provider: StateStoreProvider,
      out: DataOutputStream): Long = {
    // One to write to: only there Spark is told what a family is, and forgets it with the store.
    val rows = provider.getStore(store.version)
    try {
      val unknown = rows.allColumnFamilyNames - Default -- families.map(_.name)
      if (unknown.nonEmpty) {
        throw new IllegalStateException(
          s"expected column families of the operator's schema files, found " +
            s"${unknown.toSeq.sorted.mkString(", ")}, which are in none of them")
      }
      families.sortBy(_.table).map(readFamily(_, rows, out)).sum
    } finally rows.abort()
  }

  /** Puts all rows of a file into a store.
    *
    * @return
    *   number of rows, of which each value of a list is one
    */
  def write(families: Seq[DescribedFamily], in: DataInputStream, rows: StateStore): Long = {
    families.foreach(define(_, rows))
    val tables = families.map(family => family.table -> new Puts(family, rows)).toMap
    var count = 0L
    var table = in.readInt()
    while (table != RowFile.EndMarker) {
      val key = RowFile.bytes(in, in.readInt())
      tables(table).put(key, RowFile.bytes(in, in.readInt()))
      count += 1
      table = in.readInt()
    }
    count
  }

  private def readFamily(family: DescribedFamily, rows: StateStore, out: DataOutputStream): Long = {
    define(family, rows)
    val pairs =
      if (family.hasManyValues) rows.iteratorWithMultiValues(family.name)
      else rows.iterator(family.name)
    try {
      var count = 0L
      pairs.foreach { pair =>
        out.writeInt(family.table)
        RowFile.write(out, pair.key)
        RowFile.write(out, pair.value)
        count += 1
      }
      count
    } finally pairs.close()
  }

  private def define(family: DescribedFamily, rows: StateStore): Unit =
    if (family.name != Default) {
      rows.createColFamilyIfAbsent(
        family.name,
        family.key,
        family.value,
        EncoderText.read(family.keyEncoder, family.key),
        family.hasManyValues,
        family.isInternal)
    }

  private def schemas(byNumber: Map[String, String]): Map[Short, StructType] =
    byNumber.map { case (number, json) => number.toShort -> DescribedStore.schema(json) }

  /** Puts the rows of a family; of a list one value after the other, by the same key. */
  private final class Puts(family: DescribedFamily, rows: StateStore) {
    private[this] val key = new UnsafeRow(family.key.length)
    private[this] val value = new UnsafeRow(family.value.length)
    private[this] var before: Array[Byte] = null

    def put(keyBytes: Array[Byte], valueBytes: Array[Byte]): Unit = {
      key.pointTo(keyBytes, keyBytes.length)
      value.pointTo(valueBytes, valueBytes.length)
      if (family.hasManyValues && Arrays.equals(keyBytes, before)) {
        rows.merge(key, value, family.name)
      } else rows.put(key, value, family.name)
      before = keyBytes
    }
  }
}

package io.holdfast.families

import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.streaming.state.StateStoreErrors
import org.apache.spark.sql.execution.streaming.state.holdfast.ValueEvolution
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}

import io.holdfast.conf.StoreContext
import io.holdfast.rows.{EncoderOrder, RowFormat, ScanOrder, StoreFamilies}
import io.holdfast.table.{Family, RowOrder, Transaction}

/** The column families of a store, as operators and files define them: what a provider keeps from batch
  * to batch, so that none is read from its JSON twice. Any thread may call.
  *
  * @param default
  *   the family that every store has
  * @param ofDefault
  *   how its rows look, which is the same for all families but for schemas and order
  * @param mayEvolve
  *   whether an operator may change the schema of values where there are some
  */
final private[holdfast] class DefinedFamilies(
    default: FamilyDefinition,
    ofDefault: RowFormat,
    mayEvolve: Boolean)
    extends StoreFamilies {
  private val definitions = new ConcurrentHashMap[String, FamilyDefinition]
  private val formats = new ConcurrentHashMap[Family, RowFormat]
  definitions.put(default.name, default)

  override def format(family: Family): RowFormat = {
    val known = formats.get(family)
    if (known != null) known
    else {
      val made = ofDefault.copy(
        store = s"${ofDefault.store}, column family '${family.name}'",
        keySchema = schema(family, family.keySchema),
        valueSchema = schema(family, family.valueSchema),
        order = order(family),
        // As RocksDB does: Spark's reader of map state joins what neighbours have in common.
        walksInOrder = true)
      formats.put(family, made)
      made
    }
  }

  /** What shows rows of a family to whoever reads values by another definition of it. Without Avro none
    * are made of others, as in [[define]].
    *
    * @param to
    *   the family as its values are read
    * @param until
    *   the batch from which on values are of a later definition, if they are
    */
  def evolving(from: Family, to: Family, until: Option[Long]): EvolvingRows = {
    val written = format(from)
    val read = format(to).valueSchema
    if (FamilyDefinition.same(written.valueSchema, read, named = mayEvolve)) {
      new EvolvingRows(written, read, until, None)
    } else if (mayEvolve) {
      lazy val evolution = new ValueEvolution(written.valueSchema, read)
      new EvolvingRows(written, read, until, Some(value => evolution(value)))
    } else new EvolvingRows(written, read, until, Some(_ => throw DefinedFamilies.withoutAvro))
  }

  /** @throws org.apache.spark.SparkException
    *   of class STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE if the operator has another family that every store
    *   has than the one with rows
    */
  override def of(family: Family): Option[RowOrder] = {
    if (family.id == 0 && !default.says(family)) check(default, family)
    super.of(family)
  }

  /** What an operator says of a family, the same object as long as it says the same. */
  def defined(definition: FamilyDefinition): FamilyDefinition = {
    val known = definitions.get(definition.name)
    if (known != null && known == definition) known
    else {
      definitions.put(definition.name, definition)
      definition
    }
  }

  /** A family by what an operator of this provider has said of it, if one has. */
  def said(name: String): Option[Family] =
    Option(definitions.get(name)).map(_.withId(Family.MaxId))

  /** Defines the family that every store has, if the transaction has it not. */
  def defineDefault(rows: Transaction): Unit =
    if (rows.families.withId(0).isEmpty) rows.define(default.withId(0))

  /** Gives a transaction a family.
    *
    * @return
    *   the family as it was, if it has rows whose values are of another schema, and an operator may
    *   change that: they have to be written again
    * @throws org.apache.spark.SparkException
    *   of class STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE or STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE if it
    *   has rows of another kind
    */
  def define(rows: Transaction, asked: FamilyDefinition): Option[Family] = {
    val definition = defined(asked)
    rows.families.get(definition.name) match {
      case None =>
        rows.define(definition.withId(rows.families.freeId))
        None
      case Some(family) if definition.says(family) => None
      case Some(family) =>
        val hasRows = rows.table(family.keyTable, of(family)).keyCount > 0
        val evolves = hasRows && mayEvolve && definition.evolves(family)
        if (hasRows) check(definition, family, evolves)
        rows.define(
          definition.withId(family.id).copy(isInternal = family.isInternal),
          keepsKeys = definition.hasKeysOf(family))
        Option.when(evolves)(family)
    }
  }

  // An operator's schema may differ in words from that of its rows.
  private def check(
      definition: FamilyDefinition,
      family: Family,
      evolves: Boolean = false): Unit = {
    val asked = definition.withId(family.id)
    if (!definition.hasKeysOf(family)) {
      throw StateStoreErrors.stateStoreKeySchemaNotCompatible(
        s"${family.keySchema} ${family.keyEncoder}",
        s"${asked.keySchema} ${asked.keyEncoder}")
    }
    if (!evolves && !definition.hasValuesOf(family)) {
      throw StateStoreErrors.stateStoreValueSchemaNotCompatible(
        s"${family.valueSchema}${ofEach(family)}",
        s"${asked.valueSchema}${ofEach(asked)}")
    }
  }

  private def ofEach(family: Family): String =
    if (family.hasManyValues) ", several for a key" else ""

  private def schema(family: Family, json: String): StructType =
    understood(family)(DataType.fromJson(json).asInstanceOf[StructType])

  private def order(family: Family): Option[ScanOrder] = {
    val keySchema = schema(family, family.keySchema)
    understood(family)(EncoderOrder.of(EncoderText.read(family.keyEncoder, keySchema)))
  }

  private def understood[A](family: Family)(read: => A): A =
    try read
    catch {
      // Spark's own sentences say more.
      case NonFatal(e) if !e.isInstanceOf[SparkThrowable] =>
        throw new IllegalStateException(
          s"column family '${family.name}' is defined in words that this Spark does not know, " +
            s"keyEncoder=${family.keyEncoder}, keySchema=${family.keySchema}, " +
            s"valueSchema=${family.valueSchema}; run the query with the Spark that wrote them",
          e)
    }
}

private[holdfast] object DefinedFamilies {

  private def withoutAvro = new UnsupportedOperationException(
    s"without ${SQLConf.STREAMING_STATE_STORE_ENCODING_FORMAT.key}=avro no values are made of others")

  /** Those of a store that has column families. */
  def of(context: StoreContext): DefinedFamilies = context.families match {
    case Some(families: DefinedFamilies) => families
    case other => throw new IllegalStateException(s"$context has no column families: $other")
  }
}

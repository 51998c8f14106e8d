package org.apache.spark.sql.execution.python.streaming.holdfast

import java.util.{ArrayList => JavaList}

import scala.collection.mutable
import scala.util.control.NonFatal

import net.razorvine.pickle.{Pickler, Unpickler}

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.execution.python.EvaluatePython
import org.apache.spark.sql.execution.python.streaming.{ListStateInfo, MapStateInfo, ValueStateInfo}
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.{
  ImplicitGroupingKeyTracker,
  StatefulProcessorHandleImpl
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/** Reads and changes the states of many keys in one request.
  *
  * Requests are pickled as Python makes them (`_wire.py` says what they are): a tuple of what is asked, the
  * keys, and what of each. All goes through the state objects that Spark's handle has made, so time to live,
  * encodings and errors are theirs.
  *
  * Not for several threads.
  */
final private class StatesInBulk(
    handle: StatefulProcessorHandleImpl,
    keySchema: StructType,
    values: mutable.HashMap[String, ValueStateInfo],
    lists: mutable.HashMap[String, ListStateInfo],
    maps: mutable.HashMap[String, MapStateInfo]) {

  EvaluatePython.registerPicklers()

  private val binaryAsBytes = SQLConf.get.pysparkBinaryAsBytes
  private val unpickler = new Unpickler
  private val pickler = new Pickler(false)
  private val keyForm =
    form(keySchema, ExpressionEncoder(keySchema).resolveAndBind().createDeserializer())
  private val forms = new java.util.IdentityHashMap[AnyRef, RowForm]
  private val ahead = new KeysAhead(keySchema)

  /** Returns the answer to a request; of changes, none.
    *
    * @throws IllegalStateException
    *   if a change fails, with the number of its kind before the reason
    */
  def answer(request: Array[Byte]): Array[Byte] = {
    val parts = unpickler.loads(request).asInstanceOf[Array[AnyRef]]
    val current = ImplicitGroupingKeyTracker.getImplicitKeyOption
    try
      parts(0).asInstanceOf[Integer].intValue match {
        case StatesInBulk.Read =>
          pickler.dumps(read(list(parts(1)), list(parts(2)), list(parts(3))))
        case StatesInBulk.Change =>
          change(list(parts(1)))
          StatesInBulk.Nothing
      }
    finally
      current match {
        case Some(key) => ImplicitGroupingKeyTracker.setImplicitKey(key)
        case None => ImplicitGroupingKeyTracker.removeImplicitKey()
      }
  }

  private def read(
      keys: JavaList[AnyRef],
      reads: JavaList[AnyRef],
      before: JavaList[AnyRef]): JavaList[AnyRef] = {
    val answers = new JavaList[AnyRef](reads.size)
    for (_ <- 0 until reads.size) add(answers, new JavaList[AnyRef](keys.size))
    if (!before.isEmpty) {
      ahead.next()
      before.forEach { key =>
        val _ = ahead.isFirst(keyForm.row(key))
      }
    }
    ahead.next()
    val room = new Room(StatesInBulk.MostBytes)
    for (at <- 0 until keys.size) {
      val key = keyForm.row(keys.get(at))
      val isFirst = ahead.isFirst(key)
      if (isFirst) ImplicitGroupingKeyTracker.setImplicitKey(key)
      for (which <- 0 until reads.size) {
        val found =
          if (isFirst) readAhead(reads.get(which).asInstanceOf[Array[AnyRef]], at, room)
          else Room.NotSent
        add(list(answers.get(which)), found)
      }
    }
    answers
  }

  // Nobody has asked for it yet. Who does will hear of it.
  private def readAhead(read: Array[AnyRef], at: Int, room: Room): AnyRef =
    try readOne(read, at, room)
    catch { case NonFatal(_) => Room.NotSent }

  private def readOne(read: Array[AnyRef], at: Int, room: Room): AnyRef = {
    val name = read(1).asInstanceOf[String]
    read(0).asInstanceOf[Integer].intValue match {
      case StatesInBulk.ReadValue =>
        val info = value(name)
        room.one(rowsOf(info, info.schema, info.deserializer))(info.valueState.get())
      case StatesInBulk.ReadList =>
        val info = listOf(name)
        val rows = rowsOf(info, info.schema, info.deserializer)
        room.all(info.listState.get())(rows.values)
      case StatesInBulk.ReadPairs =>
        val info = map(name)
        room.all(info.mapState.iterator()) { case (key, value) =>
          Array[AnyRef](keysOf(info).values(key), valuesOf(info).values(value))
        }
      case StatesInBulk.ReadEntries =>
        val info = map(name)
        val found = new JavaList[AnyRef]
        list(list(read(2)).get(at)).forEach { key =>
          add(found, room.one(valuesOf(info))(info.mapState.getValue(keysOf(info).row(key))))
        }
        found
    }
  }

  private def change(changes: JavaList[AnyRef]): Unit =
    for (at <- 0 until changes.size by 2) {
      ImplicitGroupingKeyTracker.setImplicitKey(keyForm.row(changes.get(at)))
      list(changes.get(at + 1)).forEach { one =>
        val parts = one.asInstanceOf[Array[AnyRef]]
        val kind = parts(0).asInstanceOf[Integer].intValue
        try changeOne(kind, parts)
        catch {
          case NonFatal(failure) =>
            throw new IllegalStateException(s"$kind ${failure.getMessage}", failure)
        }
      }
    }

  private def changeOne(kind: Int, parts: Array[AnyRef]): Unit = {
    def name: String = parts(1).asInstanceOf[String]
    kind match {
      case StatesInBulk.UpdateValue =>
        val info = value(name)
        info.valueState.update(rowsOf(info, info.schema, info.deserializer).row(parts(2)))
      case StatesInBulk.ClearValue => value(name).valueState.clear()
      case StatesInBulk.AppendToList =>
        val info = listOf(name)
        info.listState.appendValue(rowsOf(info, info.schema, info.deserializer).row(parts(2)))
      case StatesInBulk.AppendAllToList => listOf(name).listState.appendList(rows(name, parts(2)))
      case StatesInBulk.PutList => listOf(name).listState.put(rows(name, parts(2)))
      case StatesInBulk.ClearList => listOf(name).listState.clear()
      case StatesInBulk.UpdateEntry =>
        val info = map(name)
        info.mapState.updateValue(keysOf(info).row(parts(2)), valuesOf(info).row(parts(3)))
      case StatesInBulk.RemoveEntry =>
        val info = map(name)
        info.mapState.removeKey(keysOf(info).row(parts(2)))
      case StatesInBulk.ClearMap => map(name).mapState.clear()
      case StatesInBulk.RegisterTimer =>
        handle.registerTimer(parts(1).asInstanceOf[Number].longValue)
      case StatesInBulk.DeleteTimer => handle.deleteTimer(parts(1).asInstanceOf[Number].longValue)
    }
  }

  private def rows(name: String, found: AnyRef): Array[Row] = {
    val info = listOf(name)
    val rows = rowsOf(info, info.schema, info.deserializer)
    list(found).toArray.map(rows.row)
  }

  private def value(name: String): ValueStateInfo = known(values, "Value", name)

  private def listOf(name: String): ListStateInfo = known(lists, "List", name)

  private def map(name: String): MapStateInfo = known(maps, "Map", name)

  // In the words of Spark's server.
  private def known[T](states: mutable.HashMap[String, T], kind: String, name: String): T =
    states.getOrElse(
      name,
      throw new IllegalStateException(s"$kind state $name is not initialized."))

  private def keysOf(info: MapStateInfo): RowForm =
    rowsOf(info.keyDeserializer, info.keySchema, info.keyDeserializer)

  private def valuesOf(info: MapStateInfo): RowForm =
    rowsOf(info.valueDeserializer, info.valueSchema, info.valueDeserializer)

  private def rowsOf(
      of: AnyRef,
      schema: StructType,
      deserializer: ExpressionEncoder.Deserializer[Row]): RowForm = {
    val known = forms.get(of)
    if (known != null) known
    else {
      val made = form(schema, deserializer)
      forms.put(of, made)
      made
    }
  }

  private def form(schema: StructType, deserializer: ExpressionEncoder.Deserializer[Row]): RowForm =
    new RowForm(schema, deserializer, new Unpickler, binaryAsBytes)

  private def add(to: JavaList[AnyRef], one: AnyRef): Unit = {
    val _ = to.add(one)
  }

  private def list(found: AnyRef): JavaList[AnyRef] = found.asInstanceOf[JavaList[AnyRef]]
}

private object StatesInBulk {
  final val Read = 0
  final val Change = 1

  final val ReadValue = 0
  final val ReadList = 1
  final val ReadPairs = 2
  final val ReadEntries = 3

  final val UpdateValue = 0
  final val ClearValue = 1
  final val AppendToList = 2
  final val AppendAllToList = 3
  final val PutList = 4
  final val ClearList = 5
  final val UpdateEntry = 6
  final val RemoveEntry = 7
  final val ClearMap = 8
  final val RegisterTimer = 9
  final val DeleteTimer = 10

  /** Of what one answer has, about, but for a value that is larger. */
  private val MostBytes = 4L * 1024 * 1024

  val Nothing: Array[Byte] = Array.emptyByteArray
}

package org.apache.spark.sql.execution.python.streaming.holdfast

import java.io.{
  BufferedInputStream,
  ByteArrayOutputStream,
  DataInputStream,
  DataOutputStream,
  IOException
}
import java.nio.channels.{Channels, SocketChannel}

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.Row
import org.apache.spark.sql.api.python.PythonSQLUtils
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.execution.python.streaming.{
  ListStateInfo,
  MapStateInfo,
  TransformWithStateInPySparkStateServer,
  ValueStateInfo
}
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.{
  ImplicitGroupingKeyTracker,
  StatefulProcessorHandleImpl,
  StatefulProcessorHandleState
}
import org.apache.spark.sql.execution.streaming.state.StateMessage.{
  ImplicitGroupingKeyRequest,
  StateRequest,
  StateResponse,
  StateVariableRequest,
  UtilsRequest
}
import org.apache.spark.sql.types.StructType

/** Spark's server of the state of a task in Python, which answers requests about many keys as well.
  *
  * Requests of Spark's client are answered by Spark's methods. Those in bulk have 1 in the place of the
  * version, which is 0 there. Answers go when no request is left in what has come.
  */
final private class BulkStateServer private (
    handle: StatefulProcessorHandleImpl,
    keySchema: StructType,
    mostRows: Int,
    batchTimestampMs: Option[Long],
    watermark: Option[Long],
    answers: BulkStateServer.Answers,
    states: BulkStateServer.States)
    extends TransformWithStateInPySparkStateServer(
      null,
      handle,
      keySchema,
      mostRows,
      batchTimestampMs,
      watermark,
      new DataOutputStream(answers),
      states.values,
      null,
      states.lists,
      states.iterators,
      states.maps,
      null,
      null,
      states.timers) {

  private val framed = new DataOutputStream(answers)
  private lazy val inBulk =
    new StatesInBulk(handle, keySchema, states.values, states.lists, states.maps)
  private lazy val keyDeserializer =
    ExpressionEncoder(keySchema).resolveAndBind().createDeserializer()

  /** Answers what comes on a connection, until the handle or the connection is closed or a request fails.
    *
    * Nothing is thrown: the client hears what failed, and then that no more comes. A task would wait for ever
    * for a server that has gone without a word.
    */
  def serve(connection: SocketChannel): Unit =
    try serveUntilClosed(connection)
    catch {
      // Of the worker, which has gone, or of a task that is killed.
      case _: IOException | _: InterruptedException => close()
      case failure: Throwable =>
        close()
        logError("The state server of a task in Python has failed.", failure)
    } finally endOf(connection)

  private def serveUntilClosed(connection: SocketChannel): Unit = {
    connection.getRemoteAddress match {
      case _: java.net.InetSocketAddress => connection.socket().setTcpNoDelay(true)
      case _ =>
    }
    val requests = new DataInputStream(
      new BufferedInputStream(Channels.newInputStream(connection), BulkStateServer.BufferBytes))
    val out = Channels.newOutputStream(connection)
    while (handle.getHandleState != StatefulProcessorHandleState.CLOSED) {
      answerNext(requests)
      if (requests.available == 0 || answers.size >= BulkStateServer.BufferBytes) flushTo(out)
    }
    flushTo(out)
  }

  private def answerNext(requests: DataInputStream): Unit = {
    val version = requests.readInt()
    if (version != BulkStateServer.Nothing) {
      val length = requests.readInt()
      val answered = answers.size
      try {
        val request = new Array[Byte](length)
        requests.readFully(request)
        if (version == BulkStateServer.InBulk) send(inBulk.answer(request)) else answer(request)
      } catch {
        case interrupted: InterruptedException => throw interrupted
        case failure: Throwable =>
          answers.cutTo(answered)
          fail(failure)
      }
    }
  }

  private def fail(failure: Throwable): Unit = {
    close()
    val reason = BulkStateServer.reasonOf(failure)
    send(StateResponse.newBuilder().setStatusCode(1).setErrorMessage(reason).build().toByteArray)
    logError(reason, failure)
  }

  private def close(): Unit = handle.setHandleState(StatefulProcessorHandleState.CLOSED)

  // What was answered can still be read; closing the connection could take it away.
  private def endOf(connection: SocketChannel): Unit =
    try {
      val _ = connection.shutdownOutput()
    } catch {
      case _: IOException => // it is closed
    }

  private def answer(request: Array[Byte]): Unit = {
    val message = StateRequest.parseFrom(request)
    message.getMethodCase match {
      case StateRequest.MethodCase.IMPLICITGROUPINGKEYREQUEST =>
        changeKey(message.getImplicitGroupingKeyRequest)
      case StateRequest.MethodCase.STATEFULPROCESSORCALL =>
        handleStatefulProcessorCall(message.getStatefulProcessorCall)
      case StateRequest.MethodCase.STATEVARIABLEREQUEST =>
        answerAboutState(message.getStateVariableRequest)
      case StateRequest.MethodCase.TIMERREQUEST => handleTimerRequest(message.getTimerRequest)
      case StateRequest.MethodCase.UTILSREQUEST => answerUtils(message.getUtilsRequest)
      case method => refuse("requests", method)
    }
  }

  private def changeKey(request: ImplicitGroupingKeyRequest): Unit = {
    request.getMethodCase match {
      case ImplicitGroupingKeyRequest.MethodCase.SETIMPLICITKEY =>
        val key = request.getSetImplicitKey.getKey.toByteArray
        ImplicitGroupingKeyTracker.setImplicitKey(
          PythonSQLUtils.toJVMRow(key, keySchema, keyDeserializer))
      case ImplicitGroupingKeyRequest.MethodCase.REMOVEIMPLICITKEY =>
        ImplicitGroupingKeyTracker.removeImplicitKey()
      case method => refuse("requests about keys", method)
    }
    // What is iterated over belongs to a key.
    states.iterators.clear()
    states.timers.clear()
    send(Array.emptyByteArray)
  }

  private def answerAboutState(request: StateVariableRequest): Unit =
    request.getMethodCase match {
      case StateVariableRequest.MethodCase.VALUESTATECALL =>
        handleValueStateRequest(request.getValueStateCall)
      case StateVariableRequest.MethodCase.LISTSTATECALL =>
        handleListStateRequest(request.getListStateCall)
      case StateVariableRequest.MethodCase.MAPSTATECALL =>
        handleMapStateRequest(request.getMapStateCall)
      case method => refuse("requests of state variables", method)
    }

  // Spark's server has a method for all requests, which is private.
  private def refuse(what: String, method: Enum[_]): Nothing =
    throw new IllegalArgumentException(
      s"the state server of a task in Python expected a method that it knows for $what, found " +
        s"$method: give Python workers the pyspark of the Spark that executors run")

  // A client asks in this way if it may ask in bulk; Spark's server would return the schema.
  private def answerUtils(request: UtilsRequest): Unit =
    if (request.getParseStringSchema.getSchema == BulkStateServer.Question) {
      send(StateResponse.newBuilder().setErrorMessage(BulkStateServer.Answer).build().toByteArray)
    } else handleUtilsRequest(request)

  private def send(answer: Array[Byte]): Unit = {
    framed.writeInt(answer.length)
    framed.write(answer)
  }

  private def flushTo(out: java.io.OutputStream): Unit = {
    answers.writeTo(out)
    answers.reset()
  }
}

private object BulkStateServer {
  private val Nothing = -1
  private val InBulk = 1
  private val BufferBytes = 64 * 1024

  /** The schema that a client asks for, and how the answer differs from that of Spark's server. */
  val Question = "holdfast_in_bulk long"
  val Answer = "in bulk: 1"

  /** Answers that have not been sent. */
  final private class Answers extends ByteArrayOutputStream(BufferBytes) {

    /** Takes away what is after a number of bytes: part of an answer. */
    def cutTo(bytes: Int): Unit = count = bytes
  }

  // In the words of Spark's server, which has no words for what is fatal.
  private def reasonOf(failure: Throwable): String =
    if (NonFatal(failure)) String.valueOf(failure.getMessage)
    else
      s"the state server of the task failed with $failure; the log of its executor says where. If it is " +
        "memory that lacks, give executors more, or let values in state be smaller"

  /** What Spark's server keeps, where this one sees it too. */
  final class States {
    val values = new mutable.HashMap[String, ValueStateInfo]
    val lists = new mutable.HashMap[String, ListStateInfo]
    val maps = new mutable.HashMap[String, MapStateInfo]
    val iterators = new mutable.HashMap[String, Iterator[Row]]
    val timers = new mutable.HashMap[String, Iterator[Long]]
  }

  def apply(
      handle: StatefulProcessorHandleImpl,
      keySchema: StructType,
      mostRows: Int,
      batchTimestampMs: Option[Long],
      watermark: Option[Long]): BulkStateServer =
    new BulkStateServer(
      handle,
      keySchema,
      mostRows,
      batchTimestampMs,
      watermark,
      new Answers,
      new States)
}

package org.apache.spark.sql.execution.python.streaming.holdfast

import java.io.{DataInputStream, DataOutputStream}
import java.net.{InetAddress, InetSocketAddress, Socket}
import java.nio.channels.ServerSocketChannel
import java.util.UUID

import net.razorvine.pickle.Pickler
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.{
  StatefulProcessorHandleImpl,
  StatefulProcessorHandleState
}
import org.apache.spark.sql.execution.streaming.state.StateMessage.{
  ImplicitGroupingKeyRequest,
  StateRequest,
  StateResponse,
  StateVariableRequest
}
import org.apache.spark.sql.streaming.TimeMode
import org.apache.spark.sql.types.{LongType, StructType}
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** How the state server of a task in Python ends: never without a word to a client that waits. */
class BulkStateServerSuite extends AnyFunSuite {
  import BulkStateServerSuite._

  private val memory = new OutOfMemoryError("all of it")

  test("what is fatal is answered with a sentence, and then the answers end") {
    val handle = new Failing(memory)
    asked(handle) { (requests, answers) =>
      requests.write(registerTimer)
      val refused = answer(answers)
      assert(refused.getStatusCode === 1)
      assert(refused.getErrorMessage.contains("java.lang.OutOfMemoryError: all of it"))
      assert(answers.read() === -1)
    }
    assert(handle.getHandleState === StatefulProcessorHandleState.CLOSED)
  }

  test("what an error says is answered as it is, and then the answers end") {
    asked(new Failing(new IllegalStateException("no timers here"))) { (requests, answers) =>
      requests.write(registerTimer)
      assert(answer(answers).getErrorMessage === "9 no timers here")
      assert(answers.read() === -1)
    }
  }

  test("the answers end where not even an error can be answered") {
    val handle = new Failing(memory) {
      override def setHandleState(state: StatefulProcessorHandleState.Value): Unit = {
        super.setHandleState(state)
        throw memory
      }
    }
    intercept[OutOfMemoryError](asked(handle) { (requests, answers) =>
      requests.write(registerTimer)
      assert(answers.read() === -1)
    })
  }

  Seq(
    "requests" -> StateRequest.newBuilder(),
    "requests about keys" -> StateRequest
      .newBuilder()
      .setImplicitGroupingKeyRequest(ImplicitGroupingKeyRequest.getDefaultInstance),
    "requests of state variables" -> StateRequest
      .newBuilder()
      .setStateVariableRequest(StateVariableRequest.getDefaultInstance)).foreach {
    case (what, request) =>
      test(s"$what that no method is known of is refused, and not taken for another") {
        asked(new Failing(memory)) { (requests, answers) =>
          requests.write(framed(0, request.build().toByteArray))
          val refused = answer(answers)
          assert(refused.getStatusCode === 1)
          assert(refused.getErrorMessage.contains(s"for $what, found METHOD_NOT_SET"))
          assert(answers.read() === -1)
        }
      }
  }

  private def asked(handle: StatefulProcessorHandleImpl)(
      client: (DataOutputStream, DataInputStream) => Assertion): Assertion = {
    val listening =
      ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress, 0))
    val port = listening.getLocalAddress.asInstanceOf[InetSocketAddress].getPort
    val socket = new Socket(InetAddress.getLoopbackAddress, port)
    socket.setSoTimeout(TimeoutMs)
    val connection = listening.accept()
    @volatile var thrown: Option[Throwable] = None
    val server = new Thread(() =>
      try BulkStateServer(handle, Key, 10, None, None).serve(connection)
      catch { case failure: Throwable => thrown = Some(failure) })
    server.start()
    val found =
      try
        client(
          new DataOutputStream(socket.getOutputStream),
          new DataInputStream(socket.getInputStream))
      finally {
        socket.close()
        server.join()
        connection.close()
        listening.close()
      }
    thrown.foreach(failure => throw failure)
    found
  }
}

private object BulkStateServerSuite {
  private val Key = new StructType().add("key", LongType)
  private val TimeoutMs = 30 * 1000

  class Failing(failure: Throwable)
      extends StatefulProcessorHandleImpl(
        null,
        UUID.randomUUID(),
        ExpressionEncoder(Key).resolveAndBind().asInstanceOf[ExpressionEncoder[Any]],
        TimeMode.ProcessingTime(),
        true,
        Some(0L),
        None,
        Map.empty) {
    override def registerTimer(expiryTimestampMs: Long): Unit = throw failure
  }

  /** The request in bulk to register a timer for one key. */
  private def registerTimer: Array[Byte] = {
    val change = java.util.Arrays.asList[AnyRef](Array[AnyRef](Int.box(9), Long.box(5)))
    val changes = java.util.Arrays.asList[AnyRef](Array[AnyRef](Long.box(1)), change)
    val message = new Pickler().dumps(Array[AnyRef](Int.box(1), changes))
    framed(1, message)
  }

  private def framed(version: Int, message: Array[Byte]): Array[Byte] =
    java.nio.ByteBuffer
      .allocate(8 + message.length)
      .putInt(version)
      .putInt(message.length)
      .put(message)
      .array

  private def answer(answers: DataInputStream): StateResponse = {
    val message = new Array[Byte](answers.readInt())
    answers.readFully(message)
    StateResponse.parseFrom(message)
  }
}

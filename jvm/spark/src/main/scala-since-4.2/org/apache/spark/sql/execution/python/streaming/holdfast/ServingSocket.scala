package org.apache.spark.sql.execution.python.streaming.holdfast

import java.net.{ServerSocket, SocketAddress, SocketOption}
import java.nio.channels.{ServerSocketChannel, SocketChannel}

/** A socket on which somebody else serves what Spark's state server would.
  *
  * Spark's runner gives its socket to a server of its own, and there is no place to put another one. That
  * begins with `accept`, in the thread that is made for it: there the connection is served to its end, and
  * what Spark's server gets then is a channel that is not connected, with which it has nothing to do.
  */
final private class ServingSocket(listening: ServerSocketChannel, serve: SocketChannel => Unit)
    extends ServerSocketChannel(listening.provider) {

  private val unconnected = SocketChannel.open()
  @volatile private var served: Option[SocketChannel] = None

  override def accept(): SocketChannel = {
    val connection = listening.accept()
    // Closed with this socket, when the task ends: closing it now could take away an answer that says
    // what failed, if more has been asked meanwhile.
    served = Some(connection)
    serve(connection)
    unconnected
  }

  override def bind(local: SocketAddress, backlog: Int): ServerSocketChannel = {
    listening.bind(local, backlog)
    this
  }

  override def setOption[T](name: SocketOption[T], value: T): ServerSocketChannel = {
    listening.setOption(name, value)
    this
  }

  override def getOption[T](name: SocketOption[T]): T = listening.getOption(name)

  override def supportedOptions(): java.util.Set[SocketOption[_]] = listening.supportedOptions()

  override def socket(): ServerSocket = listening.socket()

  override def getLocalAddress: SocketAddress = listening.getLocalAddress

  override protected def implCloseSelectableChannel(): Unit =
    try listening.close()
    finally (served ++ Some(unconnected)).foreach(_.close())

  override protected def implConfigureBlocking(block: Boolean): Unit = {
    val _ = listening.configureBlocking(block)
  }
}

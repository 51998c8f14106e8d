"""The socket to the state server, on which requests go ahead of the answers to earlier ones."""

from __future__ import annotations

import select
import socket
from collections import deque

from pyspark.errors import PySparkRuntimeError

from holdfast_spark.transform import _wire

_LENGTH_BYTES = 4
_SEND_BYTES = 16 * 1024
_RECEIVE_BYTES = 256 * 1024
_WAKING_BYTES = 256
_LONGEST_WAIT_MS = 10
# How an answer begins that has the status of an error: 0 is left out.
_FAILED = b"\x08\x01"


class Pending:
    """A request whose answer has not been read yet.

    Attributes:
        what: what it does, as the sentence of an error has it.
        told: whether no answer but that it was done is right.
        in_bulk: whether an error says which kind of change failed.
        answer: the response message once it has come.
    """

    __slots__ = ("answer", "in_bulk", "told", "what")

    def __init__(self, what: str, *, told: bool, in_bulk: bool = False) -> None:
        self.what = what
        self.told = told
        self.in_bulk = in_bulk
        self.answer: bytes | None = None


class StateStream:
    """Takes the place of the file that Spark's client reads from.

    Spark's own code may go on reading it as that file: it reads the answer to what was forwarded
    last.

    Nothing blocks while the server waits to be read: what comes is read whenever the socket takes
    no more. So any number of requests may be under way.

    Once a request has failed, everything after it fails with its sentence: the server may have
    stopped, and then it answers nothing more; and a batch must not commit without what it was told.

    Not for several threads, as Spark's client is not.

    Args:
        connection: the connected socket, from which nothing is left to be read.
    """

    def __init__(self, connection: socket.socket) -> None:
        # With a timeout, as `socket.setdefaulttimeout` gives one, no call returns at once.
        connection.settimeout(None)
        self._socket = connection
        self._out = bytearray()
        self._in = bytearray()
        self._at = 0
        self._pending: deque[Pending] = deque()
        self._failure: str | None = None
        self._forwarded = Pending("", told=False)
        self._read_of_it = 0
        self._readable = select.poll()
        self._readable.register(connection, select.POLLIN)
        self.round_trips = 0
        """How often somebody waited for the server."""
        self.received_bytes = 0

    def tell(self, request: bytes, what: str) -> None:
        """Send a request that needs no answer."""
        self._send(request, Pending(what, told=True))

    def tell_all(self, changes: bytes) -> None:
        """Send changes in bulk, which need no answer."""
        self._send(changes, Pending("changing state", told=True, in_bulk=True))

    def ask(self, request: bytes, what: str = "reading state") -> Pending:
        """Send a request whose answer is wanted later."""
        pending = Pending(what, told=False)
        self._send(request, pending)
        return pending

    def answer(self, pending: Pending) -> bytes:
        """Return the answer to a request, and wait for it if it has not come."""
        if pending.answer is None:
            self._settle(pending)
        return pending.answer or b""

    def forward(self, request: bytes) -> None:
        """Send a request whose answer Spark's code will read."""
        self._forwarded = self.ask(request)
        self._read_of_it = 0

    def read(self, count: int) -> bytes:
        """Return bytes of the answer to what was forwarded last, with its length before it.

        An error in it is left to Spark's code; what is sent after it fails.
        """
        forwarded = self._forwarded
        while forwarded.answer is None:
            self._check()
            self._push()
            self._receive(wait=True)
            self._take_arrived(forwarded)
        if not forwarded.answer.startswith(_FAILED):
            self._check()
        data = len(forwarded.answer).to_bytes(_LENGTH_BYTES, "big") + forwarded.answer
        at = self._read_of_it
        self._read_of_it = at + count
        return data[at : at + count]

    def settle(self) -> None:
        """Look at the answers to all that was sent.

        Raises:
            PySparkRuntimeError: a request failed.
        """
        if self._pending:
            self._settle(self._pending[-1])
        self._check()

    def _send(self, request: bytes, pending: Pending) -> None:
        self._check()
        self._out += request
        self._pending.append(pending)
        if len(self._out) >= _SEND_BYTES:
            self._push()
            self._receive(wait=False)
            self._take_arrived(None)

    def _settle(self, last: Pending) -> None:
        self._take_arrived(last)
        while last.answer is None:
            self._check()
            self._push()
            self._receive(wait=True)
            self._take_arrived(last)
        self._check()

    def _take_arrived(self, last: Pending | None) -> None:
        """Give the answers that are here to their requests, up to and with `last`."""
        buffer, at, pending = self._in, self._at, self._pending
        while pending and len(buffer) - at >= _LENGTH_BYTES:
            end = at + _LENGTH_BYTES + int.from_bytes(buffer[at : at + _LENGTH_BYTES], "big")
            if len(buffer) < end:
                break
            first = pending.popleft()
            first.answer = answer = bytes(buffer[at + _LENGTH_BYTES : end])
            at = end
            if answer and (first.told or answer.startswith(_FAILED)):
                self._fail(first, answer)
            if first is last:
                break
        self._at = at

    def _fail(self, pending: Pending, answer: bytes) -> None:
        if self._failure is None:
            import pyspark.sql.streaming.proto.StateMessage_pb2 as messages

            reason = messages.StateResponse.FromString(answer).errorMessage
            what = pending.what
            if pending.in_bulk:
                kind, _, of_change = reason.partition(" ")
                if kind.isdigit():
                    what, reason = _wire.DOES[int(kind)], of_change
            self._failure = f"Error {what}: {reason}"

    def _check(self) -> None:
        if self._failure is not None:
            raise PySparkRuntimeError(self._failure)

    def _push(self) -> None:
        """Send all that is to be sent, and read when the server must be read first."""
        while self._out:
            try:
                sent = self._socket.send(self._out, socket.MSG_DONTWAIT)
            except BlockingIOError:
                waiting = select.poll()
                waiting.register(self._socket, select.POLLIN | select.POLLOUT)
                if any(event & select.POLLIN for _, event in waiting.poll()):
                    self._receive(wait=False)
                    self._take_arrived(None)
                    self._check()
            except (BrokenPipeError, ConnectionResetError):
                self._out.clear()  # what the server said before it went is still to be read
            else:
                del self._out[:sent]

    def _wait(self) -> None:
        """Wait for a number of answers at once: being woken for each takes longer than it does."""
        few = min(len(self._pending) * _LENGTH_BYTES, _WAKING_BYTES)
        if few > _LENGTH_BYTES:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, few)
            arrived = self._readable.poll(_LONGEST_WAIT_MS)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
            if arrived:
                return
        # One answer, or fewer than there are questions: the server has stopped, or is slow.
        self._readable.poll()

    def _receive(self, *, wait: bool) -> None:
        if wait:
            self.round_trips += 1
            self._wait()
        try:
            data = self._socket.recv(_RECEIVE_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        if not data:
            raise PySparkRuntimeError(
                "the state server of the task has gone without an answer; the log of the task's "
                "executor says why"
            )
        if self._at:
            del self._in[: self._at]
            self._at = 0
        self._in += data
        self.received_bytes += len(data)

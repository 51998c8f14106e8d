"""Spark's client of the state server, which waits for the answers to reads alone."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorApiClient

from holdfast_spark.transform import _wire
from holdfast_spark.transform._stream import Pending, StateStream
from holdfast_spark.transform._wire import Calls

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from holdfast_spark.transform._states import PipelinedMapState

    Held = dict[Calls, dict[bytes, Pending]]


class Read(NamedTuple):
    """A read that a handler asked for.

    Attributes:
        calls: of which state.
        request: the request; of one that begins an iteration, without a name.
        guard: the request whose answer is empty where there is something to be read, if that is to
            be asked first: Spark's server warns in its log when it is asked for what is not there.
    """

    calls: Calls
    request: bytes
    guard: bytes | None = None


class PipelinedApiClient(StatefulProcessorApiClient):
    """Spark's client, over a connection that Spark's client has opened.

    Attributes:
        stream: the connection.
        asked: the reads for the current key in their order, from which those of the next follow.
        asked_live: how many requests were sent only when their answers were waited for.
        asked_user_keys: the user's keys among them with their maps, and whether the question was if
            they are there.
        iterations: calls of reads that begin an iteration, by their requests without a name.
    """

    def __init__(self, spark_client: StatefulProcessorApiClient) -> None:
        self.__dict__.update(spark_client.__dict__)
        self.stream = StateStream(spark_client._client_socket)
        self.sockfile = self.stream  # type: ignore[assignment]
        self.asked: list[Read] = []
        self.asked_live = 0
        self.asked_user_keys: list[tuple[PipelinedMapState, tuple[Any, ...], bool]] = []
        self.iterations: dict[bytes, bytes] = {}
        self._key: Any = None
        self._enter: bytes | None = None
        self._held: Held = {}

    def set_implicit_key(self, key: tuple[Any, ...]) -> None:
        """Make a grouping key the current one; the server learns of it with the next request."""
        if key is not self._key:
            self.begin(key, self.request_of(key), {})

    def request_of(self, key: tuple[Any, ...]) -> bytes:
        """Return the request that makes a key the current one."""
        return _wire.set_key(self._serialize_to_bytes(self.key_schema, key))

    def begin(self, key: tuple[Any, ...], request: bytes, held: Held) -> None:
        """Make a key the current one.

        Args:
            key: the key; `set_implicit_key` of the same object then changes nothing.
            request: what `request_of` returns for it.
            held: reads of its state that are under way. This client changes it.
        """
        self._key = key
        self._enter = request
        self._held = held
        self.asked = []
        self.asked_user_keys = []

    def remove_implicit_key(self) -> None:
        """Make no grouping key the current one."""
        self._key = self._enter = None
        self._held = {}
        request = _messages().ImplicitGroupingKeyRequest(
            removeImplicitKey=_messages().RemoveImplicitKey()
        )
        message = _messages().StateRequest(implicitGroupingKeyRequest=request)
        self.stream.tell(_wire.frame(message.SerializeToString()), "removing implicit key")

    def read(self, calls: Calls, request: bytes, what: str, guard: bytes | None = None) -> bytes:
        """Return the answer to a read of the current key's state that leaves nothing at the server.

        It is kept until that state changes, or another key becomes the current one.

        Args:
            calls: whose state it is.
            request: the request.
            what: what it does, as Spark's errors say it.
            guard: as `Read` has it.
        """
        self.asked.append(Read(calls, request, guard))
        held = self._held.setdefault(calls, {})
        pending = held.get(request)
        if pending is None:
            self._tell_key()
            self.asked_live += 1
            pending = held[request] = self.stream.ask(request, what)
        return self.stream.answer(pending)

    def page(self, calls: Calls, request: bytes) -> bytes | None:
        """Return the first page of an iteration, None where it has not been asked for.

        Args:
            calls: whose state it is.
            request: the request as `Calls.page` has it without a name.
        """
        self.asked.append(Read(calls, request))
        pending = self._held.get(calls, {}).get(request)
        return self.stream.answer(pending) if pending else None

    def holds(self, calls: Calls, request: bytes) -> bool:
        """Tell whether the answer to a read is here or under way."""
        return request in self._held.get(calls, ())

    def change(
        self, calls: Calls, request: bytes, what: str, *, stale: Iterable[bytes] = ()
    ) -> None:
        """Send a change of the current key's state.

        Args:
            calls: whose state it is.
            request: the request.
            what: what it does, as Spark's errors say it.
            stale: the reads whose answers are no longer right; all where none is named.
        """
        self._tell_key()
        self.stream.tell(request, what)
        held = self._held.get(calls)
        if not held:
            return
        for read in stale:
            held.pop(read, None)
        if not stale:
            held.clear()

    def register_timer(self, expiry_time_stamp_ms: int) -> None:
        """Register a timer for the current key."""
        call = _messages().TimerStateCallCommand(
            register=_messages().RegisterTimer(expiryTimestampMs=expiry_time_stamp_ms)
        )
        self._tell_timer(call, "register timer")

    def delete_timer(self, expiry_time_stamp_ms: int) -> None:
        """Delete a timer of the current key."""
        call = _messages().TimerStateCallCommand(
            delete=_messages().DeleteTimer(expiryTimestampMs=expiry_time_stamp_ms)
        )
        self._tell_timer(call, "deleting timer")

    def deserialize(self, row: bytes) -> Any:
        """Return a row that the server has pickled."""
        return pickle.loads(row)

    def serialize(self, schema: StructType, row: tuple[Any, ...]) -> bytes:
        """Return a row as the server takes it."""
        return self._serialize_to_bytes(schema, row)

    def _send_proto_message(self, message: bytes) -> None:
        self.asked_live += 1
        self._tell_key()
        super()._send_proto_message(message)

    def _tell_key(self) -> None:
        if self._enter is not None:
            self.stream.tell(self._enter, "setting implicit key")
            self._enter = None

    def _tell_timer(self, call: Any, what: str) -> None:
        self._tell_key()
        request = _messages().StatefulProcessorCall(timerStateCall=call)
        message = _messages().StateRequest(statefulProcessorCall=request)
        self.stream.tell(_wire.frame(message.SerializeToString()), what)


def _messages() -> Any:
    import pyspark.sql.streaming.proto.StateMessage_pb2 as messages

    return messages

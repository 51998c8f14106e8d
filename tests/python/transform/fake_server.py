"""A state server in Python that keeps its state in dictionaries and speaks Spark's protocol."""

from __future__ import annotations

import pickle
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyspark.sql.streaming.proto.StateMessage_pb2 as messages
from pyspark.sql.streaming.stateful_processor_api_client import (
    StatefulProcessorApiClient,
    StatefulProcessorHandleState,
)
from pyspark.sql.types import StructType

from holdfast_spark.transform import _wire
from transform import bulk_answers


class FakeServer:
    """Answers one client, in a thread of its own, until the handle is closed or a request fails.

    Attributes:
        state: rows by state name and grouping key; of a map by the user's key as well.
        calls: how often each kind of request came, by its path in the message.
        key: the current grouping key.
        ahead: those of the last read in bulk.
        room: how many rows of lists and maps one answer in bulk may have; None where it answers
            no such requests, as Spark's server.
        failing: the kind of request at which the server answers with an error and stops.
    """

    def __init__(self, key_schema: StructType, page: int = 3, room: int | None = 200) -> None:
        self.ours, self._theirs = socket.socketpair()
        self.state: dict[str, dict[bytes, Any]] = {}
        self.timers: set[tuple[bytes, int]] = set()
        self.calls: Counter[str] = Counter()
        self.failing: str | None = None
        self.room = room or 0
        self._in_bulk = room is not None
        self._page = page
        self.key = b""
        self.ahead: set[bytes] = set()
        self._iterators: dict[str, list[Any]] = {}
        self._stream = self._theirs.makefile("rwb")
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self.client = StatefulProcessorApiClient.__new__(StatefulProcessorApiClient)
        self.client.__dict__.update(
            _client_socket=self.ours,
            key_schema=key_schema,
            handle_state=StatefulProcessorHandleState.CREATED,
            sockfile=self.ours.makefile("rwb"),
            list_timer_iterator_cursors={},
            expiry_timer_iterator_cursors={},
            _batch_timestamp=-1,
            _watermark_timestamp=-1,
        )
        from pyspark.serializers import PickleSerializer

        self.client.pickleSer = PickleSerializer()

    def rows(self, name: str) -> dict[Any, Any]:
        """The state of a name, by grouping key, as Python objects."""

        def plain(held: Any) -> Any:
            if isinstance(held, dict):
                return {pickle.loads(k): plain(v) for k, v in held.items()}
            return [pickle.loads(v) for v in held] if isinstance(held, list) else pickle.loads(held)

        found = {pickle.loads(key): plain(held) for key, held in self.state[name].items()}
        return {key: held for key, held in found.items() if held}

    def join(self) -> None:
        self._thread.join(10)
        assert not self._thread.is_alive()

    def close(self) -> None:
        self.client.__dict__["sockfile"].close()
        self.ours.shutdown(socket.SHUT_RDWR)
        self.ours.close()
        self.join()
        self._stream.close()
        self._theirs.close()

    def _serve(self) -> None:
        stream = self._stream
        while head := stream.read(8):
            version, length = struct.unpack(">ii", head)
            if version == 1:
                if not self._answer_in_bulk(stream.read(length)):
                    return
                continue
            assert version == 0
            request = messages.StateRequest.FromString(stream.read(length))
            kind, call = _innermost(request)
            self.calls[kind] += 1
            if kind == self.failing:
                answer = messages.StateResponse(statusCode=1, errorMessage="it was told to fail")
            else:
                answer = self._answer(kind, request, call)
            data = answer.SerializeToString()
            stream.write(struct.pack(">i", len(data)) + data)
            stream.flush()
            if kind == self.failing or (kind.endswith("setHandleState") and call.state == 5):
                return

    def _answer_in_bulk(self, request: bytes) -> bool:
        assert self._in_bulk
        try:
            data = bulk_answers.answer(self, request)
        except bulk_answers.FailedError as failure:
            response = messages.StateResponse(statusCode=1, errorMessage=str(failure))
            data = response.SerializeToString()
        self._stream.write(struct.pack(">i", len(data)) + data)
        self._stream.flush()
        return not data.startswith(b"\x08\x01")

    def do(self, kind: str, name: str, call: Any) -> None:
        """Do a change as a call does it."""
        kind = kind.partition(".")[2]
        of_state = kind.partition(".")[0]
        if of_state in _STATES:
            _STATES[of_state](self, self.state[name], kind.partition(".")[2], call)
        else:
            self._change_timers(kind, call)

    def _change_timers(self, kind: str, call: Any) -> None:
        if kind == "timerStateCall.register":
            self.timers.add((self.key, call.expiryTimestampMs))
        if kind == "timerStateCall.delete":
            self.timers.discard((self.key, call.expiryTimestampMs))

    def _answer(self, kind: str, request: Any, call: Any) -> Any:
        kind = kind.partition(".")[2]
        if kind == "parseStringSchema" and call.schema == _wire.QUESTION and self._in_bulk:
            return messages.StateResponse(errorMessage=_wire.ANSWER)
        if kind == "setImplicitKey":
            self.key = call.key
            self._iterators = {i: v for i, v in self._iterators.items() if i.startswith("pairs:")}
        if kind.startswith(("get", "timerValueRequest")) and "State" in kind:
            self.state[call.stateName] = {}
        if kind.partition(".")[0] in _STATES:
            call_of_state = getattr(request.stateVariableRequest, kind.partition(".")[0])
            held = self.state[call_of_state.stateName]
            return _STATES[kind.partition(".")[0]](self, held, kind.partition(".")[2], call)
        self._change_timers(kind, call)
        if kind.startswith("timerValueRequest"):
            return messages.StateResponseWithLongTypeVal(value=1000)
        if kind == "expiryTimerRequest":
            due = sorted(t for t in self.timers if t[1] <= call.expiryTimestampMs)
            rows = [messages.TimerInfo(key=key, timestampMs=at) for key, at in due]
            return self._next(call.iteratorId, rows, messages.StateResponseWithTimer, "timer")
        return messages.StateResponse()

    def _value(self, held: dict[bytes, Any], kind: str, call: Any) -> Any:
        if kind == "exists":
            return messages.StateResponse(statusCode=0 if self.key in held else 2)
        if kind == "get":
            return messages.StateResponse(value=held.get(self.key, b""))
        if kind == "valueStateUpdate":
            held[self.key] = call.value
        else:
            held.pop(self.key, None)
        return messages.StateResponse()

    def _list(self, held: dict[bytes, Any], kind: str, call: Any) -> Any:
        rows = held.setdefault(self.key, [])
        if kind == "exists":
            return messages.StateResponse(statusCode=0 if rows else 2)
        if kind == "listStateGet":
            return self._next(call.iteratorId, rows, messages.StateResponseWithListGet, "value")
        if kind in ("listStatePut", "clear"):
            rows.clear()
        if kind == "appendValue":
            rows.append(call.value)
        elif kind != "clear":
            rows.extend(call.value)
        return messages.StateResponse()

    def _map(self, held: dict[bytes, Any], kind: str, call: Any) -> Any:
        rows = held.setdefault(self.key, {})
        if kind == "exists":
            return messages.StateResponse(statusCode=0 if rows else 2)
        if kind == "getValue":
            return messages.StateResponse(value=rows.get(call.userKey, b""))
        if kind == "containsKey":
            return messages.StateResponse(statusCode=0 if call.userKey in rows else 2)
        if kind == "iterator":
            pairs = [messages.KeyAndValuePair(key=k, value=v) for k, v in rows.items()]
            name = "pairs:" + call.iteratorId
            return self._next(name, pairs, messages.StateResponseWithMapIterator, "kvPair")
        if kind in ("keys", "values"):
            all_of_them = list(rows.keys() if kind == "keys" else rows.values())
            response = messages.StateResponseWithMapKeysOrValues
            return self._next(call.iteratorId, all_of_them, response, "value")
        if kind == "updateValue":
            rows[call.userKey] = call.value
        elif kind == "removeKey":
            rows.pop(call.userKey, None)
        else:
            rows.clear()
        return messages.StateResponse()

    def _next(self, name: str, rows: list[Any], response: Any, field: str) -> Any:
        left = self._iterators.setdefault(name, list(rows))
        page, self._iterators[name] = left[: self._page], left[self._page :]
        if not page:
            return response(statusCode=2, errorMessage="nothing")
        return response(requireNextFetch=len(left) > self._page, **{field: page})


_STATES: dict[str, Callable[..., Any]] = {
    "valueStateCall": FakeServer._value,
    "listStateCall": FakeServer._list,
    "mapStateCall": FakeServer._map,
}


def _innermost(message: Any) -> tuple[str, Any]:
    path = []
    while message.DESCRIPTOR.oneofs and (name := message.WhichOneof("method")):
        path.append(name)
        message = getattr(message, name)
    return ".".join(path), message

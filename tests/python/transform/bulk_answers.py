"""How the state server in Python answers in bulk: as it does the calls that stand for it."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pyspark.sql.streaming.proto.StateMessage_pb2 as messages

from holdfast_spark.transform import _wire

if TYPE_CHECKING:
    from transform.fake_server import FakeServer

_VARIABLE = "stateVariableRequest."
_TIMER = "statefulProcessorCall.timerStateCall."
# The calls that changes stand for, and what makes their messages.
_CALLS: dict[int, tuple[str, Any]] = {
    _wire.UPDATE_VALUE: (
        "valueStateCall.valueStateUpdate",
        lambda row: messages.ValueStateUpdate(value=pickled(row)),
    ),
    _wire.CLEAR_VALUE: ("valueStateCall.clear", messages.Clear),
    _wire.APPEND_TO_LIST: (
        "listStateCall.appendValue",
        lambda row: messages.AppendValue(value=pickled(row)),
    ),
    _wire.APPEND_ALL_TO_LIST: (
        "listStateCall.appendList",
        lambda rows: messages.AppendList(value=map(pickled, rows)),
    ),
    _wire.PUT_LIST: (
        "listStateCall.listStatePut",
        lambda rows: messages.ListStatePut(value=map(pickled, rows)),
    ),
    _wire.CLEAR_LIST: ("listStateCall.clear", messages.Clear),
    _wire.UPDATE_ENTRY: (
        "mapStateCall.updateValue",
        lambda key, row: messages.UpdateValue(userKey=pickled(key), value=pickled(row)),
    ),
    _wire.REMOVE_ENTRY: (
        "mapStateCall.removeKey",
        lambda key: messages.RemoveKey(userKey=pickled(key)),
    ),
    _wire.CLEAR_MAP: ("mapStateCall.clear", messages.Clear),
    _wire.REGISTER_TIMER: (
        "register",
        lambda at: messages.RegisterTimer(expiryTimestampMs=at),
    ),
    _wire.DELETE_TIMER: ("delete", lambda at: messages.DeleteTimer(expiryTimestampMs=at)),
}


class FailedError(Exception):
    """A change that the server is told to fail at."""


def pickled(row: Any) -> bytes:
    return row if isinstance(row, bytes) else pickle.dumps(row, pickle.HIGHEST_PROTOCOL)


def answer(server: FakeServer, request: bytes) -> bytes:
    """Return the answer to a request in bulk; the current key stays what it is."""
    asked, *about = pickle.loads(request)
    current = server.key
    try:
        if asked == _wire.CHANGE:
            _change(server, about[0])
            return b""
        server.calls["bulk.read"] += 1
        if server.failing == "bulk.read":
            raise FailedError("it was told to fail")
        return pickle.dumps(_read(server, *about))
    finally:
        server.key = current


def _change(server: FakeServer, changes: list[Any]) -> None:
    server.calls["bulk.change"] += 1
    for key, of_key in zip(changes[::2], changes[1::2], strict=True):
        server.key = pickled(key)
        for kind, *arguments in of_key:
            path, message = _CALLS[kind]
            is_timer = kind in (_wire.REGISTER_TIMER, _wire.DELETE_TIMER)
            name = "" if is_timer else arguments.pop(0)
            whole = (_TIMER if is_timer else _VARIABLE) + path
            server.calls[whole] += 1
            if whole == server.failing:
                raise FailedError(f"{kind} it was told to fail")
            server.do(whole, name, message(*arguments))


def _read(
    server: FakeServer, keys: list[Any], reads: list[Any], before: list[Any]
) -> list[list[Any]]:
    room = server.room

    def all_of(rows: list[Any]) -> Any:
        nonlocal room
        room -= len(rows)
        return rows if room >= 0 else _wire.NOT_SENT

    earlier = set(map(pickled, before)) or server.ahead
    server.ahead = set()
    answers: list[list[Any]] = [[] for _ in reads]
    for at, key in enumerate(map(pickled, keys)):
        comes_again = key in earlier or key in server.ahead
        server.ahead.add(key)
        for (kind, name, *user_keys), found in zip(reads, answers, strict=True):
            held = server.state[name].get(key)
            if comes_again:
                found.append(_wire.NOT_SENT)
            elif kind == _wire.READ_VALUE:
                found.append(held and pickle.loads(held))
            elif kind == _wire.READ_LIST:
                found.append(all_of([pickle.loads(row) for row in held or ()]))
            elif kind == _wire.READ_PAIRS:
                pairs = [(pickle.loads(k), pickle.loads(v)) for k, v in (held or {}).items()]
                found.append(all_of(pairs))
            else:
                of_keys = [(held or {}).get(pickled(user_key)) for user_key in user_keys[0][at]]
                found.append([row and pickle.loads(row) for row in of_keys])
    return answers

"""Requests that are made by hand are those that Spark's messages make."""

from __future__ import annotations

import struct
from typing import Any

import pyspark.sql.streaming.proto.StateMessage_pb2 as messages
import pytest

from holdfast_spark.transform import _wire

pytestmark = pytest.mark.spark

# Around where a length takes a second and a third byte.
LENGTHS = [1, 99, *range(100, 130), 16_360, 16_383, 16_384, 300_000]


def framed(**request: Any) -> bytes:
    message: bytes = messages.StateRequest(**request).SerializeToString()
    return struct.pack(">ii", 0, len(message)) + message


def of_value(name: str, **call: Any) -> bytes:
    value = messages.ValueStateCall(stateName=name, **call)
    return framed(stateVariableRequest=messages.StateVariableRequest(valueStateCall=value))


@pytest.mark.parametrize("length", LENGTHS)
def test_the_key(length: int) -> None:
    key = messages.SetImplicitKey(key=bytes(length))
    request = messages.ImplicitGroupingKeyRequest(setImplicitKey=key)
    assert framed(implicitGroupingKeyRequest=request) == _wire.set_key(bytes(length))


@pytest.mark.parametrize("name", ["n", "ein Zähler", "long" * 40])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_value(name: str, length: int) -> None:
    calls = _wire.Calls(_wire.VALUE, name)
    update = messages.ValueStateUpdate(value=b"x" * length)
    request = calls.with_bytes(_wire.VALUE_UPDATE, b"x" * length)
    assert request == of_value(name, valueStateUpdate=update)


def test_calls_without_content() -> None:
    calls = _wire.Calls(_wire.VALUE, "count")
    assert calls.request(_wire.VALUE_EXISTS) == of_value("count", exists=messages.Exists())
    assert calls.request(_wire.VALUE_GET) == of_value("count", get=messages.Get())
    assert calls.request(_wire.VALUE_CLEAR) == of_value("count", clear=messages.Clear())


def test_rows_of_a_list_and_a_pair_of_a_map() -> None:
    rows = [b"a", b"b" * 200]
    put = messages.ListStateCall(
        stateName="list", listStatePut=messages.ListStatePut(value=rows, fetchWithArrow=False)
    )
    wanted = messages.StateVariableRequest(listStateCall=put)
    found = _wire.Calls(_wire.LIST, "list").with_rows(_wire.LIST_PUT, rows)
    assert found == framed(stateVariableRequest=wanted)
    update = messages.UpdateValue(userKey=b"k", value=b"v" * 300)
    call = messages.MapStateCall(stateName="map", updateValue=update)
    wanted = messages.StateVariableRequest(mapStateCall=call)
    found = _wire.Calls(_wire.MAP, "map").with_two(_wire.MAP_UPDATE, b"k", b"v" * 300)
    assert found == framed(stateVariableRequest=wanted)

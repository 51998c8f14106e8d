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


@pytest.mark.parametrize("length", LENGTHS)
def test_the_key(length: int) -> None:
    key = messages.SetImplicitKey(key=bytes(length))
    request = messages.ImplicitGroupingKeyRequest(setImplicitKey=key)
    assert framed(implicitGroupingKeyRequest=request) == _wire.set_key(bytes(length))

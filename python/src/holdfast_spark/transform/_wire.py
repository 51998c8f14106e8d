"""Requests to the state server as bytes on the socket.

A request of Spark's is an int32 of 0 (the version), an int32 length, and a `StateRequest` of
`StateMessage.proto`. One in bulk has 1 in the place of the version, and is pickled:

- `(READ, keys, reads, before)`: a read is `(READ_VALUE, name)`, `(READ_LIST, name)`,
  `(READ_PAIRS, name)` of a map, or `(READ_ENTRIES, name, user keys)` with a list of them for each
  key. The answer is a list for each read, with what there is for each key: `NOT_SENT` where that is
  too much to send along, or may change before it is needed, as the key is that of another handler
  still to run: one of these keys, of those in the read before, or of `before`, whose handlers come
  first and were in no read.
- `(CHANGE, [key, changes, key, changes, ...])`: a change is `(UPDATE_VALUE, name, row)` and so on,
  as below. The answer is empty.

Keys and rows are tuples of values, or such a tuple pickled. `StatesInBulk` of the jar answers.
"""

from __future__ import annotations

import pickle
import struct
from typing import Any

READ, CHANGE = 0, 1
READ_VALUE, READ_LIST, READ_PAIRS, READ_ENTRIES = range(4)
UPDATE_VALUE, CLEAR_VALUE = 0, 1
APPEND_TO_LIST, APPEND_ALL_TO_LIST, PUT_LIST, CLEAR_LIST = 2, 3, 4, 5
UPDATE_ENTRY, REMOVE_ENTRY, CLEAR_MAP = 6, 7, 8
REGISTER_TIMER, DELETE_TIMER = 9, 10
NOT_SENT = False

# What a change does, as Spark's client has it in the sentence of an error.
DOES = {
    UPDATE_VALUE: "updating value state",
    CLEAR_VALUE: "clearing value state",
    APPEND_TO_LIST: "updating value state",
    APPEND_ALL_TO_LIST: "updating value state",
    PUT_LIST: "updating value state",
    CLEAR_LIST: "clearing value state",
    UPDATE_ENTRY: "updating map state value",
    REMOVE_ENTRY: "removing key from map state",
    CLEAR_MAP: "clearing map state",
    REGISTER_TIMER: "register timer",
    DELETE_TIMER: "deleting timer",
}

# The schema by which a client asks if the server answers in bulk, and how it says so.
QUESTION = "holdfast_in_bulk long"
ANSWER = "in bulk: 1"

_SPARKS, _IN_BULK = 0, 1
# Numbers of fields in StateMessage.proto, as tags of length-delimited fields.
_KEY_REQUEST = b"\x22"  # StateRequest.implicitGroupingKeyRequest
_SET_KEY = b"\x0a"  # ImplicitGroupingKeyRequest.setImplicitKey
_FIRST = b"\x0a"
_ONE_BYTE = 0x80


def varint(number: int) -> bytes:
    """Return a number that is not negative as protobuf's varint."""
    encoded = bytearray()
    while number >= _ONE_BYTE:
        encoded.append(number & 0x7F | _ONE_BYTE)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def field(tag: bytes, content: bytes) -> bytes:
    """Return a length-delimited field."""
    return tag + varint(len(content)) + content


def frame(message: bytes) -> bytes:
    """Return a `StateRequest` as it goes over the socket."""
    return struct.pack(">ii", _SPARKS, len(message)) + message


def set_key(key: bytes) -> bytes:
    """Return the request that makes a grouping key, pickled, the current one."""
    return frame(field(_KEY_REQUEST, field(_SET_KEY, field(_FIRST, key))))


def in_bulk(request: tuple[Any, ...]) -> bytes:
    """Return a request in bulk as it goes over the socket."""
    message = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
    return struct.pack(">ii", _IN_BULK, len(message)) + message

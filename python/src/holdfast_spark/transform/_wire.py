"""Requests to the state server as bytes on the socket.

A request is an int32 of 0 (the version), an int32 length, and a `StateRequest` of Spark's
`StateMessage.proto`. Those with a payload are made by hand here, which takes a third of the time
that message objects take; `tests/python/transform` holds them against Spark's own.
"""

from __future__ import annotations

import struct

# Numbers of fields in StateMessage.proto, as tags of length-delimited fields.
VARIABLE = b"\x1a"  # StateRequest.stateVariableRequest
_KEY_REQUEST = b"\x22"  # StateRequest.implicitGroupingKeyRequest
_SET_KEY = b"\x0a"  # ImplicitGroupingKeyRequest.setImplicitKey
VALUE, LIST, MAP = b"\x0a", b"\x12", b"\x1a"  # StateVariableRequest.*StateCall
_NAME = b"\x0a"  # *StateCall.stateName
_FIRST, _SECOND = b"\x0a", b"\x12"

VALUE_EXISTS, VALUE_GET, VALUE_UPDATE, VALUE_CLEAR = b"\x12", b"\x1a", b"\x22", b"\x2a"
LIST_GET, LIST_PUT = b"\x1a", b"\x22"
LIST_APPEND, LIST_APPEND_ALL, LIST_CLEAR = b"\x2a", b"\x32", b"\x3a"
MAP_GET, MAP_CONTAINS, MAP_UPDATE = b"\x1a", b"\x22", b"\x2a"
MAP_PAIRS, MAP_KEYS, MAP_VALUES, MAP_REMOVE, MAP_CLEAR = b"\x32", b"\x3a", b"\x42", b"\x4a", b"\x52"

_ONE_BYTE = 0x80
_LENGTHS = [bytes([length]) for length in range(_ONE_BYTE)]
_HEADS = [struct.pack(">ii", 0, length) for length in range(_ONE_BYTE)]


def varint(number: int) -> bytes:
    """Return a number that is not negative as protobuf's varint."""
    if number < _ONE_BYTE:
        return _LENGTHS[number]
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
    return struct.pack(">ii", 0, len(message)) + message


def set_key(key: bytes) -> bytes:
    """Return the request that makes a grouping key, pickled, the current one."""
    return frame(field(_KEY_REQUEST, field(_SET_KEY, field(_FIRST, key))))


class Calls:
    """Makes the requests about one state variable.

    Args:
        kind: VALUE, LIST or MAP.
        name: the variable's name.
    """

    def __init__(self, kind: bytes, name: str) -> None:
        self._kind = kind
        self._name = field(_NAME, name.encode())
        # The tags and lengths of four messages, and the name.
        self._around = 8 + len(self._name)

    def request(self, call: bytes, content: bytes = b"") -> bytes:
        """Return the request of a call whose message has that content."""
        return frame(field(VARIABLE, field(self._kind, self._name + field(call, content))))

    def page(self, call: bytes, iterator: str = "") -> bytes:
        """Return the request of an iterator's next page."""
        return self.with_bytes(call, iterator.encode())

    def with_bytes(self, call: bytes, value: bytes) -> bytes:
        """Return the request of a call that has one row, one user's key or one name."""
        length = len(value)
        whole = length + self._around
        if whole >= _ONE_BYTE:
            return self.request(call, field(_FIRST, value))
        # What most are: short enough for lengths of a byte.
        return b"".join(
            (
                *(_HEADS[whole], VARIABLE, _LENGTHS[whole - 2], self._kind, _LENGTHS[whole - 4]),
                *(self._name, call, _LENGTHS[length + 2], _FIRST, _LENGTHS[length], value),
            )
        )

    def with_two(self, call: bytes, key: bytes, value: bytes) -> bytes:
        """Return the request of a call that has a user's key and a row."""
        return self.request(call, field(_FIRST, key) + field(_SECOND, value))

    def with_rows(self, call: bytes, rows: list[bytes]) -> bytes:
        """Return the request of a call that has any number of rows."""
        return self.request(call, b"".join([field(_FIRST, row) for row in rows]))

"""Decompression of LZF, for which there is no well-kept library.

A chunk is a sequence of two instructions, told apart by the first byte `c`:

    c < 32      take the next c + 1 bytes as they are
    c >= 32     copy c >> 5 bytes and two more from what has been written; when c >> 5 is 7 the next
                byte is added to it. The distance back is (c & 31) * 256 + the following byte + 1.
"""

from __future__ import annotations


class InvalidLzfError(ValueError):
    """The data is no LZF chunk."""


def decompress(data: bytes, size: int) -> bytes:
    """Decompress a chunk.

    Args:
        data: the compressed bytes.
        size: number of bytes that they have to become.

    Raises:
        InvalidLzfError: they do not.
    """
    out = bytearray()
    position = 0
    try:
        while position < len(data) and len(out) <= size:
            control = data[position]
            position += 1
            if control < 32:  # noqa: PLR2004 - the instruction that takes bytes
                out += data[position : position + control + 1]
                position += control + 1
                continue
            length = control >> 5
            if length == 7:  # noqa: PLR2004 - the longest that three bits can say
                length += data[position]
                position += 1
            distance = (control & 31) * 256 + data[position] + 1
            position += 1
            _copy(out, distance, length + 2)
    except IndexError as e:
        raise InvalidLzfError("an instruction that ends early") from e
    if position != len(data) or len(out) != size:
        raise InvalidLzfError(f"{len(out)} bytes instead of {size}")
    return bytes(out)


def _copy(out: bytearray, distance: int, length: int) -> None:
    """Repeat what stands `distance` bytes back; source and target may overlap."""
    if distance > len(out):
        raise InvalidLzfError(f"a copy from {distance} bytes back after {len(out)} bytes")
    start = len(out) - distance
    pattern = out[start : start + length]
    out += (pattern * (length // len(pattern) + 1))[:length]

"""Lists of values, in column families with several values for a key.

The values of a key are cut into parts. Part 0 is the record of the key in the table of the family,
part `p` above 0 the record of the key followed by `p`, 8 bytes, in the table behind it. The value
of such a record is, little-endian,

    | int32 parts | int32 values | int32 kept | int32 renewed | int64 length | value | ...

where only part 0 tells the number of parts, and part 0 alone may have no values, if others have
(`jvm/FORMAT.md`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence

from holdfast_spark.checkpoint.errors import DamagedRowError
from holdfast_spark.checkpoint.rows.family_records import Table
from holdfast_spark.checkpoint.rows.records import Records

HEAD = struct.Struct("<iiii")
LENGTH = struct.Struct("<q")
PART = struct.Struct("<q")
# A value that would make a part longer begins another one.
_PART_BYTES = 1 << 10


def values_of(part: bytes, *, is_first: bool, where: str) -> tuple[int, list[bytes]]:
    """Return the number of parts that a part tells, and its values.

    Args:
        part: the value of its record.
        is_first: whether it is part 0.
        where: the file, for errors.

    Raises:
        DamagedRowError: no writer writes such a part.
    """
    if len(part) < HEAD.size:
        raise _damaged(where, f"a list of {HEAD.size} bytes or more", f"{len(part)}")
    parts, count, _, _ = HEAD.unpack_from(part)
    if is_first and parts < 1:
        raise _damaged(where, "a list of 1 part or more", f"{parts}")
    at = HEAD.size
    values: list[bytes] = []
    while len(values) < count and at + LENGTH.size <= len(part):
        (length,) = LENGTH.unpack_from(part, at)
        at += LENGTH.size
        if not 0 <= length <= len(part) - at or length & 7:
            break
        values.append(part[at : at + length])
        at += length
    fewest = 0 if is_first and parts > 1 else 1
    if count < fewest or len(values) < count or at < len(part):
        raise _damaged(
            where, f"{count} values of whole words in a part of {len(part)} bytes", "others"
        )
    return parts, values


def split_key(key: bytes, *, where: str) -> tuple[bytes, int]:
    """Return the key of a list and the number of the part that lies under a longer key.

    Raises:
        DamagedRowError: it is no such key.
    """
    if len(key) < PART.size:
        raise _damaged(where, "a key and the number of a part", f"{len(key)} bytes")
    (number,) = PART.unpack_from(key, len(key) - PART.size)
    if number < 1:
        raise _damaged(where, "the number of a part, 1 or more", str(number))
    return key[: -PART.size], number


def parts_of(key: bytes, values: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Return the records of a list as a snapshot has them: that of its key, those of other parts.

    Part 0 is written again with each part that is added, so it has no value larger than a part.

    Args:
        key: the key.
        values: its values, of which there is one at least.
    """
    parts: list[list[bytes]] = [[]]
    size = HEAD.size
    for value in values:
        size += LENGTH.size + len(value)
        if size > _PART_BYTES and (parts[-1] or len(parts) == 1):
            parts.append([])
            size = HEAD.size + LENGTH.size + len(value)
        parts[-1].append(LENGTH.pack(len(value)) + value)
    return [
        (
            key + PART.pack(number) if number else key,
            HEAD.pack(0 if number else len(parts), len(part), 0, 0) + b"".join(part),
        )
        for number, part in enumerate(parts)
    ]


def gathered(
    pieces: Iterable[tuple[str, Table, Records]],
) -> Iterator[tuple[str, bytes, list[bytes]]]:
    """Yield lists out of the records of a version of one family: file, key and all values.

    Lists of several parts are held until all their parts have come.

    Args:
        pieces: records with the file and the table that they are of.

    Raises:
        DamagedRowError: a part is missing, too many, or not as it is written.
    """
    counts: dict[bytes, int] = {}
    parts: dict[bytes, dict[int, list[bytes]]] = {}
    where = ""
    for where, table, records in pieces:
        for found, part in zip(records.key_bytes(), records.value_bytes(), strict=True):
            key, number = split_key(found, where=where) if table.has_parts else (found, 0)
            told, values = values_of(part, is_first=not number, where=where)
            if not number:
                if told == 1 and key not in parts:
                    yield where, key, values
                    continue
                counts[key] = told
            parts.setdefault(key, {})[number] = values
            if len(parts[key]) == counts.get(key):
                del counts[key]
                yield where, key, _in_order(parts.pop(key), where)
    if parts:
        key, there = next(iter(parts.items()))
        raise _damaged(
            where,
            f"a list of {counts.get(key, 'a known number of')} parts",
            f"only {', '.join(str(number) for number in sorted(there))} of them",
        )


def _in_order(parts: dict[int, list[bytes]], where: str) -> list[bytes]:
    if max(parts) >= len(parts):
        raise _damaged(where, f"the parts 0 to {len(parts) - 1} of a list", str(sorted(parts)))
    return [value for number in range(len(parts)) for value in parts[number]]


def _damaged(where: str, expected: str, found: str) -> DamagedRowError:
    return DamagedRowError(where=where, expected=expected, found=found)

"""Makes files of stores with column families byte by byte, without the code under test."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import google_crc32c

from checkpoint.checkpoints import long_row, lz4, offsets, schema_json
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import StateFile

NO_PREFIX = json.dumps({"keyStateEncoderType": "NoPrefixKeyStateEncoderSpec"})
K_N = (schema_json(k="long"), schema_json(n="long"))

Record = tuple[int, bytes, bytes | None]


def integer(value: int) -> bytes:
    return struct.pack(">i", value)


def checksum(content: bytes) -> bytes:
    return struct.pack(">I", google_crc32c.value(content))


def string(text: str) -> bytes:
    encoded = text.encode()
    return integer(len(encoded)) + encoded


def header(
    kind: str, *, version: int = 1, flags: int = 0, codec: str = "lz4", magic: bytes = b"HOLDFAST"
) -> bytes:
    """The header of a file; `kind` is D or S."""
    content = magic + integer(version) + kind.encode() + bytes([flags]) + string(codec)
    return content + checksum(content)


def blocks(stream: bytes, *, size: int = 50) -> bytes:
    """A stream in blocks, with the end block."""
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    out = []
    for number, piece in enumerate([*pieces, b""]):
        lengths = integer(number) + integer(len(piece))
        out += [integer(len(piece)), checksum(lengths + piece), piece]
    return b"".join(out)


def family(
    number: int,
    name: str,
    *,
    flags: int = 0,
    encoder: str = NO_PREFIX,
    schemas: tuple[str, str] = K_N,
) -> bytes:
    """A family as a file defines it; its rows are those of `K_N` unless told otherwise."""
    return integer(number) + bytes([flags]) + b"".join(map(string, (name, encoder, *schemas)))


def content(
    records: Iterable[Record],
    *,
    removed: Sequence[int] = (),
    defined: Sequence[bytes] = (),
    row_checksums: bool = False,
) -> bytes:
    """The decompressed content of a file: records are table, key and value, None for a removal."""
    parts = [integer(len(removed)), *map(integer, removed), integer(len(defined)), *defined]
    for table, key, value in records:
        sum_ = b""
        if row_checksums:
            sum_ = struct.pack("<I", google_crc32c.value(key + (value or b"")))
        parts.append(integer(table))
        if value is None:
            parts += [integer(len(sum_ + key)), sum_, key, integer(-1)]
        else:
            parts += [integer(len(key)), key, integer(len(sum_ + value)), sum_, value]
    return b"".join([*parts, integer(-1)])


def file_bytes(
    kind: str,
    records: Iterable[Record],
    *,
    removed: Sequence[int] = (),
    defined: Sequence[bytes] = (),
    row_checksums: bool = False,
) -> bytes:
    """A whole file."""
    inner = content(records, removed=removed, defined=defined, row_checksums=row_checksums)
    return header(kind, flags=int(row_checksums)) + blocks(lz4(inner))


def part(values: Sequence[bytes], *, parts: int = 0, kept: int = 0) -> bytes:
    """The value of a part of a list."""
    lengths = (struct.pack("<q", len(value)) + value for value in values)
    return struct.pack("<iiii", parts, len(values), kept, 0) + b"".join(lengths)


def part_key(key: bytes, number: int) -> bytes:
    """The key of a part behind the first."""
    return key + struct.pack("<q", number)


def state_file(folder: Path, name: str, whole: bytes) -> StateFile:
    """A file of a store in a folder, such as `2.delta`."""
    path = folder / name
    path.write_bytes(whole)
    version, kind = name.split(".")
    return StateFile(
        location=Location.of(str(path)),
        kind="delta" if kind == "delta" else "snapshot",
        version=int(version),
        size_bytes=len(whole),
        modified=None,
    )


TRANSFORM = "transformWithStateExec"
TOTAL, SEEN, PARTS, COUNTER = 1, 2, 3, 4
PREFIX = json.dumps({"keyStateEncoderType": "PrefixKeyScanStateEncoderSpec", "numColsPrefixKey": 1})
MAP_KEY = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": n, "type": json.loads(schema_json(**{f: "long"})), "nullable": True}
            | {"metadata": {}}
            for n, f in (("key", "k"), ("userKey", "part"))
        ],
    }
)
FAMILIES = (
    family(0, "default"),
    family(TOTAL, "total"),
    family(SEEN, "seen", flags=2),
    family(PARTS, "parts", encoder=PREFIX, schemas=(MAP_KEY, K_N[1])),
    family(COUNTER, "$rowCounter_seen", flags=1),
)


def map_key(key: int, part_: int) -> bytes:
    """A row of two structs of a long each."""
    structs = long_row(key), long_row(part_)
    slots = [(24 + 16 * i) << 32 | 16 for i in range(2)]
    return struct.pack("<Qqq", 0, *slots) + b"".join(structs)


def total(key: int, count: int | None) -> Record:
    return 2 * TOTAL, long_row(key), None if count is None else long_row(count)


def seen(key: int, *values: int) -> Record:
    """A list of one part."""
    return 2 * SEEN, long_row(key), part([long_row(value) for value in values], parts=1)


def parts(key: int, part_: int, count: int) -> Record:
    return 2 * PARTS, map_key(key, part_), long_row(count)


def transformed(
    folder: Path,
    versions: Mapping[str, bytes],
    *,
    batches: int,
    partitions: int = 1,
    operator: str = TRANSFORM,
) -> Path:
    """The checkpoint of a query with `transformWithState`, on Holdfast.

    Args:
        folder: where it is made.
        versions: content of the state files, by their name below `state/0`.
        batches: number of committed batches.
        partitions: number of partitions.
        operator: name of the operator.
    """
    variables = [
        {"stateName": name, "stateVariableType": kind, "ttlEnabled": False}
        for name, kind in (("total", "ValueState"), ("seen", "ListState"), ("parts", "MapState"))
    ]
    properties = {"timeMode": "NoTime", "outputMode": "Update", "stateVariables": variables}
    store = {
        "storeName": "default",
        "numColsPrefixKey": 0,
        "numPartitions": partitions,
        "stateSchemaFilePaths": [f"file:{folder}/state/0/_stateSchema/default/0_a"],
    }
    metadata = {
        "operatorInfo": {"operatorId": 0, "operatorName": operator},
        "stateStoreInfo": [store],
        "operatorPropertiesJson": json.dumps(properties),
    }
    files = {
        "state/0/_metadata/v2/0": f"v2\n{json.dumps(metadata)}".encode(),
        "state/0/_stateSchema/default/0_a": schema_v3(),
        "metadata": b'{"id":"6a2f8c5e-0000-4000-8000-000000000000"}',
        **{f"state/0/{name}": whole for name, whole in versions.items()},
    }
    for batch in range(batches):
        settings = {"providerClass": "io.holdfast.HoldfastStateStoreProvider"}
        files[f"offsets/{batch}"] = offsets(batch, **settings).replace(
            b'"spark.sql.shuffle.partitions": "1"',
            f'"spark.sql.shuffle.partitions": "{partitions}"'.encode(),
        )
        files[f"commits/{batch}"] = b'v1\n{"nextBatchWatermarkMs":0}'
    for name, whole in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(whole)
    return folder


# Name, schemas of keys and values, order of keys, and schema of the user's keys in a map.
Described = tuple[str, str, str, str, str]
DESCRIBED: tuple[Described, ...] = (
    ("$rowCounter_seen", K_N[0], K_N[1], NO_PREFIX, "{    }"),
    ("parts", MAP_KEY, K_N[1], PREFIX, schema_json(part="long")),
    ("seen", K_N[0], K_N[1], NO_PREFIX, "{    }"),
    ("total", K_N[0], K_N[1], NO_PREFIX, "{    }"),
)


def schema_v3(described: Sequence[Described] = DESCRIBED) -> bytes:
    """A schema file; that of `FAMILIES`, without the one named default, unless told otherwise."""
    out = [_short("v3"), integer(len(described))]
    for name, key, value, encoder, user_key in described:
        ids = struct.pack(">h", 0)
        out += [_short(name), ids, _long(key), ids, _long(value), _long(encoder), _long(user_key)]
    return b"".join(out)


def _short(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _long(text: str) -> bytes:
    return integer(1) + _short(text)

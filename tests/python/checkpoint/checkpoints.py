"""Makes checkpoints byte by byte, without Spark and without the code under test."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import xxhash

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
PARTITIONS = "spark.sql.shuffle.partitions"
ROW_CHECKSUMS = "spark.sql.streaming.stateStore.rowChecksum.enabled"
STRICT = "spark.sql.streaming.statefulOperator.useStrictDistribution"
HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
GOLDEN = Path(__file__).with_name("golden")

# What tests have just written is changed at once: its query is known to be stopped.
AT_ONCE = timedelta(0)

LZ4_SEED = 0x9747B28C

Row = tuple[bytes, bytes | None]


def long_row(*values: int | None) -> bytes:
    """A row of longs."""
    nulls = sum(1 << i for i, value in enumerate(values) if value is None)
    return struct.pack(f"<Q{len(values)}q", nulls, *(value or 0 for value in values))


def records(rows: Iterable[Row]) -> bytes:
    """The content of a state file; a value of None removes its key."""
    parts = []
    for key, value in rows:
        parts += [struct.pack(">i", len(key)), key]
        parts += [struct.pack(">i", -1)] if value is None else [_sized(value)]
    return b"".join([*parts, struct.pack(">i", -1)])


def _sized(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


def lz4(content: bytes, *, block_bytes: int = 1 << 15) -> bytes:
    """A stream of LZ4 blocks as lz4-java writes it."""
    codec, out = pa.Codec("lz4_raw"), []
    for start in range(0, len(content), block_bytes):
        block = content[start : start + block_bytes]
        data = codec.compress(block, asbytes=True)
        check = xxhash.xxh32_intdigest(block, LZ4_SEED) & 0x0FFFFFFF
        out += [struct.pack("<8sBIII", b"LZ4Block", 0x25, len(data), len(block), check), data]
    return b"".join([*out, struct.pack("<8sBIII", b"LZ4Block", 0x15, 0, 0, 0)])


def schema_json(**types: str) -> str:
    """Spark's JSON of a row with these fields."""
    fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in types.items()]
    return json.dumps({"type": "struct", "fields": fields})


def schema_file(key: str, value: str) -> bytes:
    """A schema file of version 2."""
    parts = [struct.pack(">H", 2), b"v2"]
    for text in (key, value):
        parts += [struct.pack(">iH", 1, len(text)), text.encode()]
    return b"".join(parts)


def offsets(batch: int = 0, **settings: str) -> bytes:
    """An offsets file; settings are named without `spark.sql.streaming.stateStore.`."""
    conf = {f"spark.sql.streaming.stateStore.{n}": v for n, v in settings.items()}
    conf = {PROVIDER: HDFS, PARTITIONS: "1", STRICT: "true", ROW_CHECKSUMS: "false", **conf}
    metadata = {"batchWatermarkMs": 0, "batchTimestampMs": 1_000 * (batch + 1), "conf": conf}
    return f"v1\n{json.dumps(metadata)}\n{{}}".encode()


def add_file_sources(folder: Path) -> None:
    """Write the logs of the file sources that the newest batch of a checkpoint has."""
    newest = max((folder / "offsets").iterdir(), key=lambda file: int(file.name))
    for place, text in enumerate(newest.read_text().split("\n")[2:]):
        log = folder / f"sources/{place}"
        log.mkdir(parents=True)
        for batch in range(json.loads(text)["logOffset"] + 1):
            entry = {"path": f"file:///in/{place}/{batch}", "timestamp": batch, "batchId": batch}
            (log / str(batch)).write_text(f"v1\n{json.dumps(entry)}")


def counts(folder: Path, versions: Mapping[str, Iterable[Row]], *, batches: int) -> Path:
    """A checkpoint with one operator and one partition; keys and values are a long each.

    Args:
        folder: where it is made.
        versions: rows by the name of the state file.
        batches: number of committed batches.
    """
    files = {
        "state/0/_metadata/metadata": b"v1\n"
        + json.dumps(
            {
                "operatorInfo": {"operatorId": 0, "operatorName": "stateStoreSave"},
                "stateStoreInfo": [
                    {"storeName": "default", "numColsPrefixKey": 0, "numPartitions": 1}
                ],
            }
        ).encode(),
        "state/0/0/_metadata/schema": schema_file(schema_json(k="long"), schema_json(n="long")),
        **{f"state/0/0/{name}": lz4(records(rows)) for name, rows in versions.items()},
        "metadata": b'{"id":"6a2f8c5e-0000-4000-8000-000000000000"}',
    }
    for batch in range(batches):
        files[f"offsets/{batch}"] = offsets(batch)
        files[f"commits/{batch}"] = b'v1\n{"nextBatchWatermarkMs":0}'
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def row(key: int, count: int | None) -> Row:
    """A row of `counts`; a count of None removes the key."""
    return long_row(key), None if count is None else long_row(count)


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder, the backups of a checkpoint too (`faults.content` leaves them out)."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}

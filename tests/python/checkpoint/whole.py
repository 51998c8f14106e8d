"""A checkpoint with all that Spark leaves in one, for every kind of damage."""

from __future__ import annotations

import json
import os
import struct
import zlib
from pathlib import Path

from checkpoint.checkpoints import long_row, lz4, offsets, records, schema_file, schema_json

BATCHES = 5
PARTITIONS = 2
SNAPSHOT = 3
# By the hash of a row with one long, of two partitions.
KEYS = ((2, 4, 5, 8), (0, 1, 3, 6))
_QUERY_ID = "6a2f8c5e-0000-4000-8000-000000000000"


def whole(folder: Path, *, checksums: bool = False) -> Path:
    """Make counts by a long, in two partitions, of a file source, five batches committed.

    Args:
        folder: where it is made.
        checksums: whether Hadoop's lie beside the files.
    """
    for batch in range(BATCHES):
        planned = json.loads(offsets(batch).splitlines()[1])
        planned["batchWatermarkMs"] = 100 * batch
        planned["conf"]["spark.sql.shuffle.partitions"] = str(PARTITIONS)
        text = f'v1\n{json.dumps(planned)}\n{{"logOffset":{batch}}}'
        _write(folder / f"offsets/{batch}", text.encode(), 10 * batch, checksums)
        text = f'v1\n{{"path":"file:///in/{batch}.json","timestamp":{batch},"batchId":{batch}}}'
        _write(folder / f"sources/0/{batch}", text.encode(), 10 * batch, checksums)
        text = f'v1\n{{"nextBatchWatermarkMs":{100 * (batch + 1)}}}'
        _write(folder / f"commits/{batch}", text.encode(), 10 * batch + 9, checksums)
    for partition, keys in enumerate(KEYS):
        store = folder / f"state/0/{partition}"
        state: dict[int, int] = {}
        for version in range(1, BATCHES + 1):
            changed = {key: 10 * version + key for key in keys if (key + version) % 3}
            state |= changed
            time = 10 * (version - 1) + 5
            _write(store / f"{version}.delta", _content(changed), time, checksums)
            if version == SNAPSHOT:
                _write(store / f"{version}.snapshot", _content(state), time + 7, checksums)
    schema = schema_file(schema_json(k="long"), schema_json(n="long"))
    _write(folder / "state/0/0/_metadata/schema", schema, 0, checksums)
    operator = {
        "operatorInfo": {"operatorId": 0, "operatorName": "stateStoreSave"},
        "stateStoreInfo": [
            {"storeName": "default", "numColsPrefixKey": 0, "numPartitions": PARTITIONS}
        ],
    }
    text = f"v1\n{json.dumps(operator)}"
    _write(folder / "state/0/_metadata/metadata", text.encode(), 0, checksums)
    _write(folder / "metadata", json.dumps({"id": _QUERY_ID}).encode(), 0, checksums)
    return folder


def add_checksums(file: Path, *, bytes_per_checksum: int = 512) -> None:
    """Write the checksums that Hadoop keeps beside a local file."""
    content = file.read_bytes()
    starts = range(0, len(content), bytes_per_checksum)
    sums = [zlib.crc32(content[start : start + bytes_per_checksum]) for start in starts]
    header = struct.pack(">4si", b"crc\0", bytes_per_checksum)
    file.with_name(f".{file.name}.crc").write_bytes(header + struct.pack(f">{len(sums)}I", *sums))


def _content(rows: dict[int, int]) -> bytes:
    return lz4(records((long_row(key), long_row(count)) for key, count in rows.items()))


def _write(file: Path, content: bytes, time: int, checksums: bool) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    os.utime(file, (time, time))
    if checksums:
        add_checksums(file)

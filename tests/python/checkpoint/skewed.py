"""Makes a checkpoint with skewed partitions, hot keys, and a snapshot now and then.

cd tests/python; python -m checkpoint.skewed FOLDER [BATCHES [CHANGES]]
"""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path

import numpy as np

from checkpoint.checkpoints import PARTITIONS, lz4, offsets, records, schema_file, schema_json

PROVIDER = "io.holdfast.HoldfastStateStoreProvider"
PARTITION_COUNT = 12
SKEWED_PARTITION = 3
SNAPSHOT_EVERY = 11
_FIRST_BATCH_MS = 1_780_000_000_000
_BATCH_MS = 45_000

State = dict[bytes, bytes]


def skewed(folder: Path, *, batches: int = 30, changes: int = 200) -> Path:
    """Make the checkpoint of a query that counts clicks by user.

    Every fifth user is in one partition. The lower the number of a user, the more clicks.

    Args:
        folder: where it is made.
        batches: number of committed batches.
        changes: clicks in a batch, about.
    """
    random = np.random.default_rng(7)
    states: list[State] = [{} for _ in range(PARTITION_COUNT)]
    schema = schema_file(schema_json(user="string", country="string"), schema_json(n="long"))
    _write(folder / "state/0/_metadata/metadata", _metadata())
    _write(folder / "state/0/0/_metadata/schema", schema)
    _write(folder / "metadata", b'{"id":"0b7f5a1c-0000-4000-8000-000000000000"}')
    for batch in range(batches):
        size = int(changes * (1 + 0.6 * np.sin(batch / 5)))
        users = random.zipf(1.3, size) % 5_000_000
        seconds = (_FIRST_BATCH_MS + batch * _BATCH_MS) / 1000
        _write_state(folder / "state/0", batch + 1, users.tolist(), states, seconds)
        _write_logs(folder, batch, seconds)
    return folder


def _write_state(
    folder: Path, version: int, users: list[int], states: list[State], seconds: float
) -> None:
    changed: list[State] = [{} for _ in states]
    for user in users:
        partition = SKEWED_PARTITION if user % 5 == 0 else user % PARTITION_COUNT
        key = string_row(f"user-{user:07d}", ("DE", "FR", "JP", "US")[user % 4])
        _, count = struct.unpack("<Qq", states[partition].get(key, bytes(16)))
        value = struct.pack("<Qq", 0, count + 1)
        changed[partition][key] = states[partition][key] = value
    for partition, state in enumerate(states):
        # Now and then the oldest users are forgotten.
        old = list(state)[: len(state) // 20] if version % 7 == 0 else []
        for key in old:
            del state[key]
            changed[partition].pop(key, None)
        delta = records([*((key, None) for key in old), *changed[partition].items()])
        _write(folder / f"{partition}/{version}.delta", lz4(delta), seconds)
        if version % SNAPSHOT_EVERY == 0:
            _write(folder / f"{partition}/{version}.snapshot", lz4(records(state.items())), seconds)


def _write_logs(folder: Path, batch: int, seconds: float) -> None:
    log = offsets(providerClass=PROVIDER).decode()
    log = log.replace(f'"{PARTITIONS}": "1"', f'"{PARTITIONS}": "{PARTITION_COUNT}"')
    log = log.replace('"batchTimestampMs": 1000', f'"batchTimestampMs": {seconds * 1000:.0f}')
    _write(folder / f"offsets/{batch}", log.encode())
    _write(folder / f"commits/{batch}", b'v1\n{"nextBatchWatermarkMs":0}')


def string_row(*values: str) -> bytes:
    """A row of strings."""
    places, texts = [], b""
    for value in values:
        text = value.encode()
        places.append(struct.pack("<II", len(text), 8 + 8 * len(values) + len(texts)))
        texts += text + bytes(-len(text) % 8)
    return struct.pack("<Q", 0) + b"".join(places) + texts


def _metadata() -> bytes:
    stores = [{"storeName": "default", "numColsPrefixKey": 0, "numPartitions": PARTITION_COUNT}]
    operator = {"operatorId": 0, "operatorName": "stateStoreSave"}
    return b"v1\n" + json.dumps({"operatorInfo": operator, "stateStoreInfo": stores}).encode()


def _write(path: Path, content: bytes, seconds: float | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if seconds is not None:
        os.utime(path, (seconds, seconds))


if __name__ == "__main__":
    numbers = zip(("batches", "changes"), map(int, sys.argv[2:]), strict=False)
    skewed(Path(sys.argv[1]), **dict(numbers))

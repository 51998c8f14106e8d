"""Reads golden checkpoints by Holdfast in Spark, and prints as JSON how many rows of each it found.

    read_golden.py WORK CHECKPOINT...

The rows of the newest version of every store are held against those that Python reads.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession

import holdfast_spark as holdfast
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.conversion import state_file
from holdfast_spark.checkpoint.changes.spark_state import SparkState, SparkStore
from holdfast_spark.checkpoint.files.logs import PROVIDER_CLASS
from holdfast_spark.checkpoint.files.providers import PROVIDERS
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.rows.records import Records, read_records


def main(work: Path, *checkpoints: str) -> None:
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = holdfast.configure(builder).getOrCreate()
    state = SparkState(spark)
    found = {
        path: sum(compared(state, store, Path(path), work / "records") for store in stores(path))
        for path in checkpoints
    }
    spark.stop()
    print(json.dumps(found))


def stores(path: str) -> Iterator[tuple[Checkpoint, StoreFiles]]:
    checkpoint = Checkpoint.open(path)
    for store in checkpoint.stores:
        yield checkpoint, store


def compared(
    state: SparkState, of: tuple[Checkpoint, StoreFiles], path: Path, records: Path
) -> int:
    checkpoint, store = of
    version = store.versions[-1]
    schema = checkpoint.row_schema(store.operator_id, store_name=store.name)
    kinds = checkpoint.operator(store.operator_id).stores
    described = SparkStore(
        state_folder=str(path / "state"),
        operator_id=store.operator_id,
        partition_id=store.partition_id,
        store_name=store.name,
        version=version,
        key_schema=schema.key_json,
        value_schema=schema.value_json,
        prefix_columns=max(
            (kind.prefix_columns for kind in kinds if kind.name == store.name), default=0
        ),
        settings={**checkpoint.settings.conf, PROVIDER_CLASS: PROVIDERS["holdfast"]},
    )
    count = state.read(described, records)
    by_spark = read_records(state_file(records, version), codec=None, row_checksums=False)
    by_python = (piece for _, piece in checkpoint.read_bytes(store, version))
    assert rows(by_spark) == rows(by_python), described
    return count


def rows(pieces: Iterable[Records]) -> Counter[tuple[bytes, bytes]]:
    return Counter(
        pair
        for piece in pieces
        for pair in zip(piece.key_bytes(), piece.value_bytes(), strict=True)
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

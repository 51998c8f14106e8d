"""Reads checkpoints of counts with Spark's `statestore` source; prints their rows as JSON.

read_counts.py CHECKPOINT ...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def main(*checkpoints: str) -> None:
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    # The source of Spark 4.2 asks a coordinator that starts with the session's streams.
    assert not spark.streams.active
    found = {}
    for checkpoint in checkpoints:
        rows = spark.read.format("statestore").load(checkpoint).collect()
        found[Path(checkpoint).name] = {str(row.key.k): row.value.n for row in rows}
    spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])

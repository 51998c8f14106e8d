"""Measures how fast checkpoints are read, on one core; prints a JSON object.

    PYTHONPATH=python/src:tests/python python measure_reading.py [ROWS [FILES]]

Reads ROWS rows of a long key and two long values from one snapshot, by `Checkpoint.read`, `holdfast
show --format json`, `holdfast verify` and, where pyspark is installed, Spark's `statestore` source,
in rows a second, and inspects a checkpoint of FILES files, in seconds.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from click.testing import CliRunner

from checkpoint.checkpoints import counts, long_row, schema_file, schema_json
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.cli.main import main as holdfast


def main(rows: int = 1_000_000, files: int = 10_000) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {0})
    with tempfile.TemporaryDirectory() as folder:
        large = counts(
            Path(folder) / "large",
            {"1.snapshot": ((long_row(i), long_row(3 * i, i % 7)) for i in range(rows))},
            batches=1,
        )
        schema = schema_file(schema_json(k="long"), schema_json(a="long", b="long"))
        (large / "state/0/0/_metadata/schema").write_bytes(schema)
        many = counts(Path(folder) / "many", {}, batches=100)
        for file in range(files):
            path = many / f"state/0/{file // 100}/{file % 100 + 1}.delta"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"x")
        measured = {
            "read": rows / seconds(lambda: read(large)),
            "show": rows
            / seconds(lambda: run("show", large, "--format", "json", "-o", os.devnull)),
            "verify": rows / seconds(lambda: run("verify", large)),
            "inspect": seconds(lambda: run("inspect", many)),
        }
        if find_spec("pyspark"):
            measured["statestore source"] = rows / spark_seconds(large)
    print(json.dumps({name: round(value, 3) for name, value in measured.items()}))


def spark_seconds(path: Path) -> float:
    """The shortest of three times that Spark reads all rows in, on one core."""
    from pyspark.sql import SparkSession

    builder = SparkSession.Builder().master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    source = spark.read.format("statestore").load(str(path))
    taken = seconds(lambda: source.write.format("noop").mode("overwrite").save())
    spark.stop()
    return taken


def seconds(action: Callable[[], None]) -> float:
    """The shortest of three times."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def read(path: Path) -> None:
    for _ in Checkpoint.open(str(path)).read():
        pass


def run(*arguments: str | Path) -> None:
    result = CliRunner().invoke(holdfast, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

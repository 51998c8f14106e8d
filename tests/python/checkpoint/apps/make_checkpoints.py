"""Runs small streaming queries and keeps their checkpoints.

    PYTHONPATH=tests/python make_checkpoints.py FOLDER [QUERY ...]
    PYTHONPATH=tests/python make_checkpoints.py --read FOLDER

Makes `FOLDER/<query>/checkpoint` for each query that this Spark can run, all of them when none is
named, and writes what Spark's `statestore` source reads from it to `FOLDER/<query>/expected.json`:
a list of [source options, rows], a row being the JSON text of [partition_id, values of the key,
values of the value]. Structs and maps are objects, binaries hexadecimal, and what JSON lacks is as
Python's `str` has it. What pyspark cannot collect is turned into numbers by Spark: year-month
intervals into months, calendar intervals into months, days and microseconds.

Spark 3.5 has no `statestore` source. `--read` writes `expected.json` for checkpoints that another
Spark has made. What RocksDB holds, below `FOLDER/rocksdb`, is not read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from checkpoint.apps.golden_queries import QUERIES, WITH_IDS_SINCE
from checkpoint.apps.spark_classes import FILE_MANAGER, SPARK
from checkpoint.apps.statestore_rows import read_state

STATE_STORE = "spark.sql.streaming.stateStore"


def main(folder: Path, *names: str) -> None:
    spark = _session()
    made = [name for name in names or QUERIES if QUERIES[name].is_possible]
    for name in made:
        query = QUERIES[name]
        settings = {f"{STATE_STORE}.{name}": value for name, value in query.settings.items()}
        settings |= query.session
        for setting, value in settings.items():
            spark.conf.set(setting, value)
        checkpoint = folder / name / "checkpoint"
        stream = query.stream(spark, folder / name / "source")
        _run(stream, query.mode, checkpoint)
        if query.repeated:
            newest = max(checkpoint.glob("commits/[0-9]*"), key=lambda file: int(file.name))
            newest.unlink()
            newest.with_name(f".{newest.name}.crc").unlink()
            _run(stream, query.mode, checkpoint)
        for setting in settings:
            spark.conf.unset(setting)
        if SPARK >= (4, 0) and query.is_readable:
            _write_expected(spark, folder / name)
    spark.stop()
    print(json.dumps(made))


def read(folder: Path) -> None:
    """Write what this Spark reads from checkpoints that are there."""
    spark = _session()
    made = sorted(path.parent for path in folder.glob("*/checkpoint"))
    for place in made:
        _write_expected(spark, place)
    spark.stop()
    print(json.dumps([place.name for place in made]))


def _session() -> SparkSession:
    builder = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.timeType.enabled", "true")
        .config("spark.sql.streaming.checkpointFileManagerClass", FILE_MANAGER)
        .config(f"{STATE_STORE}.maintenanceInterval", "100ms")
        # Compiling takes longer than running for so few rows.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    )
    if SPARK >= WITH_IDS_SINCE:
        from holdfast_spark import configure

        provider = f"{STATE_STORE}.providerClass"
        default = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
        configure(builder).config(provider, default)
    return builder.getOrCreate()


def _run(stream: DataFrame, mode: str, checkpoint: Path) -> None:
    writer = stream.writeStream.outputMode(mode).option("checkpointLocation", str(checkpoint))
    writer.format("noop").trigger(availableNow=True).start().awaitTermination()


def _write_expected(spark: SparkSession, place: Path) -> None:
    expected = json.dumps(read_state(spark, place / "checkpoint"), indent=1)
    (place / "expected.json").write_text(expected)


if __name__ == "__main__":
    if sys.argv[1] == "--read":
        read(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]), *sys.argv[2:])

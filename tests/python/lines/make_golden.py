"""Makes the golden checkpoints of a line, with its pyspark.

    PYTHONPATH=python:tests/python python -m lines.make_golden LINE [FOLDER]

Runs every query on Spark's default provider, and packs its checkpoint, the rows that come after it
and what the `statestore` source reads of it. Spark 3.5 has no such source: there it leaves the
checkpoints in FOLDER, and the same command with the pyspark of 4.0 reads and packs them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from checkpoint.apps.spark_classes import SPARK
from checkpoint.apps.statestore_rows import read_store
from lines import go_on
from lines.cases import QUERIES
from lines.golden import HDFS, copy, job, pack, rows


def main(line: str, folder: Path) -> None:
    spark = go_on.session()
    if not any(folder.iterdir()):
        _make(spark, folder)
    if SPARK >= (4, 0):
        for name in QUERIES:
            read = list(_state(spark, folder / name / "checkpoint"))
            (folder / name / "expected.json").write_text(json.dumps(read, indent=1))
        pack(folder, line)
    spark.stop()


def _make(spark: SparkSession, folder: Path) -> None:
    places = [folder / name for name in QUERIES]
    for done in go_on.run(spark, [job(place, HDFS) for place in places]):
        assert done["error"] is None, done["error"]
    with tempfile.TemporaryDirectory() as other:
        further = [copy(place, Path(other)) for place in places]
        results = go_on.run(spark, [job(place, HDFS) for place in further])
    for place, result in zip(places, results, strict=True):
        (place / "next.json").write_text(json.dumps(rows(result), indent=1))


def _state(spark: SparkSession, checkpoint: Path) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Read the newest version of all stores."""
    newest = max(int(path.name) for path in checkpoint.glob("commits/[0-9]*"))
    for operator in sorted(checkpoint.glob("state/[0-9]*")):
        named = (path.name for path in (operator / "0").iterdir() if path.is_dir())
        stores = sorted(name for name in named if name != "_metadata") or ["default"]
        for store in stores:
            of = {"batchId": str(newest), "operatorId": operator.name, "storeName": store}
            yield read_store(spark, checkpoint, of)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1], Path((sys.argv[2:] or [temporary])[0]))

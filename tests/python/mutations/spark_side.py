"""What Spark does in the search for damage that `verify` does not see.

    PYTHONPATH=tests/python python -m mutations.spark_side make FOLDER
    PYTHONPATH=tests/python python -m mutations.spark_side restart FOLDER

`make` runs every query and leaves `FOLDER/<query>/checkpoint`, its input beside it and what it
wrote by batch in `FOLDER/<query>/output.json`. `restart` takes lines of JSON from standard input,
`{"query": NAME, "checkpoint": PATH}`, lets the query go on from there with the rest of its input,
and prints for each, in the same order, what came of it: `error`, or `output` by batch and `id`.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import holdfast_spark as holdfast
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate
from mutations.mutate import checksum_of
from mutations.outcomes import HANGS
from mutations.queries import BATCHES, QUERIES, Query, write_input

_STATE_STORE = "spark.sql.streaming.stateStore"
_PATIENCE_SECONDS = 90
_WITH_SNAPSHOT = 3
_CONVERTED = 2


def make(spark: SparkSession, folder: Path) -> None:
    """Run every query; keep its checkpoint, its output and the rest of its input."""
    for name, query in QUERIES.items():
        place = folder / name
        output = _run(spark, query, place)
        if query.is_crashed:
            commits = (place / "checkpoint" / "commits").glob("[0-9]*")
            newest = max(commits, key=lambda file: int(file.name))
            newest.unlink()
            checksum_of(newest).unlink(missing_ok=True)
        if not query.has_checksums:
            for checksums in (place / "checkpoint").rglob(".*.crc"):
                checksums.unlink()
        for number in (BATCHES, BATCHES + 1):
            write_input(place / "input", number)
        (place / "output.json").write_text(json.dumps(output))


def _run(spark: SparkSession, query: Query, place: Path) -> dict[int, list[str]]:
    output: dict[int, list[str]] = {}
    on_rocksdb = range(_CONVERTED if query.begins_on else 0)
    if on_rocksdb:
        _run_batches(query, query.first_session(spark), place, output, on_rocksdb)
        checkpoint = Checkpoint.open(str(place / "checkpoint"))
        migrate(checkpoint, "holdfast", apply=True, stopped=True, settled=timedelta(0))
    _run_batches(query, query.session(spark), place, output, range(on_rocksdb.stop, BATCHES))
    return output


def _run_batches(
    query: Query, session: SparkSession, place: Path, output: dict[int, list[str]], batches: range
) -> None:
    checkpoint = place / "checkpoint"
    write_input(place / "input", batches.start)
    running = _start(query, session, place / "input", checkpoint, output, now=False)
    for number in batches:
        write_input(place / "input", number)
        if query.makes_numbers:
            _wait(running, (checkpoint / f"commits/{number}").exists)
        else:
            running.processAllAvailable()
        if number == _WITH_SNAPSHOT:
            _wait(running, lambda: _all_have_snapshots(checkpoint))
    running.stop()


def _wait(running: StreamingQuery, is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + _PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > ends:
            raise TimeoutError(str(running.lastProgress))
        time.sleep(0.05)


def _all_have_snapshots(checkpoint: Path) -> bool:
    stores = {path.parent for path in checkpoint.rglob("state/**/*.delta")}
    return bool(stores) and all(list(store.glob("*.snapshot")) for store in stores)


def restart(spark: SparkSession, folder: Path) -> None:
    cases = [json.loads(line) for line in sys.stdin]
    # Spark stops a query when another with its id is started: copies take turns.
    turns = {query: Lock() for query in QUERIES}

    def one(case: dict[str, str]) -> dict[str, Any]:
        with turns[case["query"]]:
            return _restart(spark, folder, case)

    with ThreadPoolExecutor(2) as threads:
        for outcome in threads.map(one, cases):
            sys.stdout.write(f"{json.dumps(outcome)}\n")
            sys.stdout.flush()


def _restart(spark: SparkSession, folder: Path, case: dict[str, str]) -> dict[str, Any]:
    query = QUERIES[case["query"]]
    output: dict[int, list[str]] = {}
    running = None
    try:
        inputs = folder / case["query"] / "input"
        checkpoint = Path(case["checkpoint"])
        running = _start(query, query.session(spark), inputs, checkpoint, output, now=True)
        if not running.awaitTermination(_PATIENCE_SECONDS):
            return {"error": HANGS}
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the outcome
        return {"error": f"{type(error).__name__}: {str(error)[:300]}"}
    finally:
        if running is not None:
            with contextlib.suppress(Exception):
                running.stop()
    return {"output": output, "id": running.id}


def _start(  # noqa: PLR0913 - what a query is started with
    query: Query,
    session: SparkSession,
    inputs: Path,
    checkpoint: Path,
    output: dict[int, list[str]],
    *,
    now: bool,
) -> StreamingQuery:
    def keep(batch: DataFrame, batch_id: int) -> None:
        output[batch_id] = sorted(str(row) for row in batch.collect())

    writer = query.stream(session, inputs).writeStream.outputMode(query.mode).foreachBatch(keep)
    trigger = {"availableNow": True} if now else {"processingTime": "0 seconds"}
    return writer.option("checkpointLocation", str(checkpoint)).trigger(**trigger).start()


def _session() -> SparkSession:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.session.timeZone", "UTC")
        .config(f"{_STATE_STORE}.maintenanceInterval", "200ms")
        .config(f"{_STATE_STORE}.minDeltasForSnapshot", "3")
        # Compiling takes longer than running for so few rows.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    )
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


if __name__ == "__main__":
    {"make": make, "restart": restart}[sys.argv[1]](_session(), Path(sys.argv[2]))

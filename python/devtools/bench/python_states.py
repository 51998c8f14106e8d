"""Measures `transformWithState` from Python with Spark's state client and with Holdfast's.

`./dev bench-python` runs it as a module in the environment of a Spark line. One session runs all
queries, the two clients in turns, so that both have the machine as it is. A batch has one row for
each key; the first batch of each query is not counted, for it starts the workers. On Linux it also
counts processor time, of the JVM and the workers, which says more where others use the machine too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

import holdfast_spark as holdfast
from holdfast_spark.transform import installation

STATES = ("value", "list", "map")
FORMS = ("rows", "pandas")
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_PARTITIONS = 2
_USER_KEYS = 8


class ReadsAndWrites(StatefulProcessor):
    """Reads the state of its key, changes it and returns what it was: once for each key."""

    def __init__(self, state: str) -> None:
        self._state = state

    def init(self, handle: Any) -> None:
        """Make the state variable."""
        if self._state == "value":
            self._count = handle.getValueState("state", "n long")
        elif self._state == "list":
            self._last = handle.getListState("state", "n long")
        else:
            self._counts = handle.getMapState("state", "k long", "n long")

    def change(self, key: int, number: int) -> int:
        """Read and change the state; return what was read."""
        if self._state == "value":
            found = self._count.get()
            count = found[0] if found else 0
            self._count.update((count + 1,))
        elif self._state == "list":
            count = sum(1 for _ in self._last.get())
            self._last.appendValue((key,))
        else:
            found = self._counts.getValue((number,))
            count = found[0] if found else 0
            self._counts.updateValue((number,), (count + 1,))
        return int(count)


class OfRows(ReadsAndWrites):
    """Takes and returns rows."""

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Row]:
        """Change the state once for the rows of a key."""
        *_, last = rows
        yield Row(id=key[0], found=self.change(key[0], last.kind))


class OfFrames(ReadsAndWrites):
    """Takes and returns frames of pandas."""

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Any]:
        """Change the state once for the rows of a key."""
        import pandas as pd

        *_, last = rows
        found = self.change(key[0], int(last["kind"].iloc[-1]))
        yield pd.DataFrame({"id": [key[0]], "found": [found]})


def processor_seconds() -> float:
    """Return what this process and those that it has started have used, 0 where nobody says."""
    processes: dict[int, tuple[int, int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        # Its parent, and the user and system time of it and of its children that have ended.
        processes[int(stat.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    ticks, found = 0, [os.getpid()]
    for parent in found:
        ticks += processes.get(parent, (0, 0))[1]
        found += [process for process, (of, _) in processes.items() if of == parent]
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(
    spark: SparkSession, state: str, form: str, keys: int, batches: int
) -> tuple[list[float], float]:
    """Return how many milliseconds the batches of a query took, but for the first.

    And the processor time of a record, in microseconds.
    """
    source = spark.readStream.format("rate-micro-batch").options(
        rowsPerBatch=keys, numPartitions=_PARTITIONS
    )
    kinds = f"floor(value / {keys}) % {_USER_KEYS} as kind"
    groups = source.load().selectExpr(f"value % {keys} as id", kinds).groupBy("id")
    transform = groups.transformWithState if form == "rows" else groups.transformWithStateInPandas
    processor = (OfRows if form == "rows" else OfFrames)(state)
    made = transform(processor, "id long, found long", "Update", "None")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        query = made.writeStream.format("noop").outputMode("update")
        running = query.option("checkpointLocation", folder).start()
        used, begun = 0.0, 0
        while len(running.recentProgress) <= batches:
            if failure := running.exception():
                raise failure
            if not begun and running.recentProgress:
                used, begun = processor_seconds(), len(running.recentProgress)
            time.sleep(0.02)
        done = len(running.recentProgress) - begun
        used = processor_seconds() - used
        running.stop()
    found: list[Any] = list(running.recentProgress)
    progress = [each if isinstance(each, dict) else json.loads(each.json) for each in found]
    took = [float(each["durationMs"]["addBatch"]) for each in progress[1 : batches + 1]]
    return took, used * 1e6 / max(1, done) / keys


def measure(spark: SparkSession, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what was measured of each form and state."""
    for form in arguments.forms:
        for state in arguments.states:
            took: dict[str, list[float]] = {"spark": [], "holdfast": []}
            used: dict[str, list[float]] = {"spark": [], "holdfast": []}
            for _ in range(arguments.turns):
                for client, times in took.items():
                    installation.install() if client == "holdfast" else installation.remove()
                    asked = (state, form, arguments.keys, arguments.batches)
                    milliseconds, processor = measured(spark, *asked)
                    times.extend(milliseconds)
                    used[client].append(processor)
            rates = {
                client: round(arguments.keys * 1000 / statistics.median(times))
                for client, times in took.items()
            }
            ratio = round(rates["holdfast"] / rates["spark"], 2)
            processor_us = {client: statistics.median(each) for client, each in used.items()}
            yield {
                "form": form,
                "state": state,
                **rates,
                "times": ratio,
                "milliseconds": took,
                "processor_us": processor_us,
            }


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="./dev bench-python")
    parser.add_argument("--keys", type=int, default=10_000, help="keys, and rows of a batch")
    parser.add_argument("--batches", type=int, default=3, help="batches of a query")
    parser.add_argument("--turns", type=int, default=2, help="queries of each client")
    parser.add_argument("--states", nargs="+", default=STATES, choices=STATES)
    parser.add_argument("--forms", nargs="+", default=FORMS, choices=FORMS)
    parser.add_argument("--rocksdb", action="store_true", help="keep the state in RocksDB")
    parser.add_argument("--out", type=Path, help="write the numbers to this file, as JSON")
    arguments = parser.parse_args()
    builder = (
        SparkSession.builder.master(f"local[{_PARTITIONS}]")
        .config("spark.sql.shuffle.partitions", str(_PARTITIONS))
        .config("spark.ui.enabled", "false")
    )
    if arguments.rocksdb:
        builder.config("spark.sql.streaming.stateStore.providerClass", _ROCKSDB)
    else:
        holdfast.configure(builder, local_checkpoints=True)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    print("records a second      Spark's  Holdfast's   times   processor us of each", flush=True)
    found = []
    for row in measure(spark, arguments):
        found.append(row)
        name = f"{row['form']}, {row['state']} state"
        of_each = " ".join(f"{used:10.1f}" for used in row["processor_us"].values())
        rates = f"{row['spark']:8} {row['holdfast']:11} {row['times']:7}"
        print(f"{name:20} {rates} {of_each}", flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")
    spark.stop()


if __name__ == "__main__":
    main()

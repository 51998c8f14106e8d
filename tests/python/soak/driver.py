"""A driver process, which does what its parent writes to it, a line of JSON for each order.

    python -m soak.driver SETTINGS

SETTINGS is JSON: `master`, `checkpoint`, `rows` and `cycle` (`Events`), `conf` of Spark and `jars`,
paths of more of them. It answers each order with a line that begins with `ANSWER`, and ends when
there is no parent any more.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

import holdfast_spark as holdfast
import stores_in_memory
from soak import ANSWER, sinks
from soak.events import Events
from soak.query import batched, streamed

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from soak.sources import Stream

# That keep state: deduplication and counts.
_OPERATORS = 2
_STORES = "spark.sql.streaming.stateStore"
_CONF = {
    "spark.cores.max": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # What the session remembers of jobs and batches that have ended.
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "20",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.sql.streaming.ui.retainedQueries": "2",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    f"{_STORES}.minDeltasForSnapshot": "5",
    f"{_STORES}.maintenanceInterval": "2s",
}
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Tables that nobody writes to any more are let go.
    "spark.databricks.delta.delta.log.cacheSize": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
}


class Driver:
    """Has the session, and the query while one runs."""

    def __init__(self, settings: dict[str, Any]) -> None:
        builder = SparkSession.builder.master(settings["master"])
        jars = settings["jars"]
        delta = _DELTA if any("delta-spark" in jar for jar in jars) else {}
        more = {"spark.jars": ",".join(jars)} if jars else {}
        for name, value in {**_CONF, **delta, **more, **settings["conf"]}.items():
            builder = builder.config(name, value)
        self._spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()
        self._events = Events(settings["rows"], settings["cycle"])
        self._checkpoint = Path(settings["checkpoint"])
        self._query: StreamingQuery | None = None
        self._ended_run = ""

    def begin(
        self, stream: Stream, sink: str, out: str, first: int, *, every: str | None = None
    ) -> None:
        """Start the query on a stream, with a sink that began with a batch."""
        counts = streamed(self._spark, stream, self._events)
        self._query = sinks.start(counts, sink, Path(out), self._checkpoint, first, every=every)

    def stop(self) -> None:
        """Stop the query, wherever it is."""
        if self._query is not None:
            self._query.stop()
            self._ended_run = str(self._query.runId)
            self._query = None

    def forget(self) -> int:
        """Have Spark forget the stores of the run that was stopped; return how many it knew of.

        It forgets them when a run ends. Of one that a task was opening at that moment it is told
        afterwards, and takes it for one in use as long as its executor lives, whatever the provider
        (`StateStoreCoordinator`, Spark 4.3).
        """
        jvm: Any = self._spark._jvm
        coordinator = self._spark._jsparkSession.streams().stateStoreCoordinator()
        run = jvm.java.util.UUID.fromString(self._ended_run)
        state = jvm.org.apache.spark.sql.execution.streaming.state
        stores = [
            state.StateStoreId(f"file:{self._checkpoint}/state", operator, partition, "default")
            for operator in range(_OPERATORS)
            for partition in range(int(self._spark.conf.get("spark.sql.shuffle.partitions") or 0))
        ]
        known = [
            store
            for store in stores
            if coordinator.getLocation(state.StateStoreProviderId(store, run)).isDefined()
        ]
        coordinator.deactivateInstances(run)
        return len(known)

    def rest(self) -> None:
        """Stop the query, and maintenance with it: the stores are let go of."""
        self.stop()
        stores_in_memory.let_go(self._spark._jvm)

    def failure(self) -> str | None:
        """Return why the query does not run any more, None while it does."""
        if self._query is None or self._query.isActive:
            return None
        return str(self._query.exception() or "the query has stopped by itself")

    def compute(self, numbers: str) -> list[list[int]]:
        """Return the rows of the whole computation, done in one go, of the numbers in a file."""
        counts = batched(self._spark, numbers, self._events)
        return [list(row) for row in counts.collect()]

    def measure(self) -> dict[str, float]:
        """Return what the JVM holds: bytes after a garbage collection, and rows in the state."""
        jvm = self._spark._jvm
        assert jvm is not None
        jvm.System.gc()
        runtime = jvm.java.lang.Runtime.getRuntime()
        factory = jvm.java.lang.management.ManagementFactory
        buffers = factory.getPlatformMXBeans(
            jvm.java.lang.Class.forName("java.lang.management.BufferPoolMXBean")
        )
        direct = sum(pool.getMemoryUsed() for pool in buffers if pool.getName() == "direct")
        pools = [
            (pool.getName(), pool.getUsage().getUsed()) for pool in factory.getMemoryPoolMXBeans()
        ]
        progress = self._query.lastProgress if self._query else None
        # A dictionary alone before Spark 4.0.
        text = getattr(progress, "json", None) or json.dumps(progress)
        operators = json.loads(text)["stateOperators"] if progress else []
        return {
            "heap": runtime.totalMemory() - runtime.freeMemory(),
            "direct": direct,
            "classes": sum(used for name, used in pools if name == "Metaspace"),
            "code": sum(used for name, used in pools if name.startswith("Code")),
            "rows": sum(operator["numRowsTotal"] for operator in operators),
        }


def main() -> None:
    """Do what is ordered until there is nobody who orders."""
    driver = Driver(json.loads(sys.argv[1]))
    for line in sys.stdin:
        order = json.loads(line)
        answer = getattr(driver, order.pop("order"))(**order)
        sys.stdout.write(f"{ANSWER}{json.dumps(answer)}\n")
        sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

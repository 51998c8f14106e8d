"""What the processes of a run agree on: providers, stages, batches and where files lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SPARK = "spark"
HOLDFAST = "holdfast"
PROVIDERS = {
    SPARK: "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    HOLDFAST: "io.holdfast.HoldfastStateStoreProvider",
}
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""Stands for Spark where its default provider does not run a query."""

PARTITIONS = 2

BY_SPARK = "by spark"
"""A driver process in which the queries run on Spark's provider, to their end."""

# The stages of Holdfast, each a driver process of its own, the first two of which are killed.
TORN = "torn"
WRITTEN = "written"
ENDED = "ended"
STAGES = (TORN, WRITTEN, ENDED)

ARRIVED = "arrived"
"""The line that a driver prints when it may be killed: all its queries wait in the middle of a
batch, or all have ended and been read."""

TORN_BATCH = 1
"""The first driver is killed in this batch, when one partition of two has written its state."""

SNAPSHOT_BATCH = 3
"""This batch begins when version 3 of every store has a snapshot."""

MIN_DELTAS_FOR_SNAPSHOT = 2
"""Version 3 is the first one with more deltas than these."""

WRITTEN_BATCH = 4
"""The second driver is killed in this batch, when all state is written and no output. The third one
loads the snapshot and the delta of a batch."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The folder of a run."""

    folder: Path

    @property
    def inputs(self) -> Path:
        """The folder of the sources."""
        return self.folder / "inputs"

    def checkpoint(self, case: str, provider: str) -> Path:
        """The checkpoint of a query."""
        return self.folder / "checkpoints" / provider / case

    def output(self, case: str, provider: str) -> Path:
        """The folder of what a query wrote: a JSON file for each batch, the last attempt's."""
        return self.folder / "output" / provider / case

    def progress(self, case: str, provider: str) -> Path:
        """The folder of what its operators counted: a JSON file for each batch."""
        return self.folder / "progress" / provider / case

    def kept(self, provider: str) -> tuple[Path, ...]:
        """The folders of all that is kept of the queries on a provider, but their checkpoints."""
        return tuple(self.folder / kind / provider for kind in ("output", "progress", "readings"))

    def readings(self, case: str, provider: str) -> Path:
        """The JSON file of what readers found in a query's checkpoint."""
        return self.folder / "readings" / provider / f"{case}.json"

    def log(self, stage: str) -> Path:
        """What the driver of a stage and its JVM logged."""
        return self.folder / f"{stage}.log"

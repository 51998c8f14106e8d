"""One history: the query, started over and over while requests fail and processes are killed."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from objectstores.faulty import Faults, FaultyStore
from objectstores.processes import DRIVER, EXECUTOR, kill, start
from objectstores.server import BUCKET, s3a_settings
from objectstores.windows import write_input

MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
# Spark's own for object stores, which closes an upload or aborts it, and renames nothing.
ABORTABLE = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
SPARKS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
_PATIENCE_SECONDS = 900.0
_POLL_SECONDS = 0.5
_BATCH_SECONDS = 5.0


def drawn_conf(drawn: random.Random, retained: int) -> dict[str, str]:
    """Return the settings of a query that keeps so many versions of its state."""
    return {
        "spark.sql.streaming.minBatchesToRetain": str(retained),
        "spark.sql.streaming.stateStore.maintenanceInterval": "2s",
        "spark.sql.streaming.stateStore.minDeltasForSnapshot": str(drawn.choice([2, 5])),
        "spark.sql.streaming.stateStore.checkpointFormatVersion": str(drawn.choice([1, 2])),
        "spark.task.maxFailures": "4",
    }


@dataclass(kw_only=True)
class History:
    """What is drawn from a seed; its folder takes input, output and logs.

    Attributes:
        seed: all is drawn from it, but what the scheduling of processes does.
        folder: a new folder.
        files: of input, one for each batch, as a rule.
        kills: processes that are killed.
        rate: share of the requests that something happens to; drawn for None.
    """

    seed: int
    folder: Path
    files: int = 16
    kills: int = 5
    rate: float | None = None
    happened: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        rate = self._random.choice([0.003, 0.01, 0.02])
        self.rate = rate if self.rate is None else self.rate
        self.retained = self._random.choice([3, 100])
        self.conf = drawn_conf(self._random, self.retained)
        if self._random.random() < 2 / 3:
            self.conf[MANAGER] = ABORTABLE

    @property
    def checkpoint(self) -> str:
        """Path of the checkpoint in the store."""
        return f"{BUCKET}/{self.folder.name}"

    def run(self, store: FaultyStore, spark: Mapping[str, str], jars: Path) -> None:
        """Run the query to its end.

        Raises:
            RuntimeError: it does not reach it although nothing happens any more.
        """
        write_input(self.folder / "input", self.files)
        (self.folder / "output").mkdir()
        store.faults = Faults(self.rate or 0.0, self.seed)
        for _ in range(self.kills):
            if self._written() < self.files:
                with self._started(store, spark, jars) as driver:
                    self._disturb(driver)
                    self._end(driver)
        self.happened.update({str(fault): count for fault, count in store.faults.done.items()})
        store.faults = Faults(0, self.seed)
        for _ in range(3):
            # A run may find what the one before has left at this moment.
            with self._started(store, spark, jars) as driver:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    driver.wait(_PATIENCE_SECONDS)
                if driver.poll() == 0:
                    return
                self._end(driver)
        log = (self.folder / "log.txt").read_text()
        raise RuntimeError(f"the query does not go on: {log[-3000:]}")

    def _started(
        self, store: FaultyStore, spark: Mapping[str, str], jars: Path
    ) -> subprocess.Popen[bytes]:
        settings = {
            "master": "local-cluster[2,1,1024]",
            "input": str(self.folder / "input"),
            "output": str(self.folder / "output"),
            "jars": sorted(str(jar) for jar in jars.glob("*.jar")),
            "checkpoint": f"s3a://{self.checkpoint}",
            "conf": {**self.conf, **s3a_settings(store.url, prefix="spark.hadoop.")},
        }
        return start(self.folder, settings, spark)

    def _disturb(self, driver: subprocess.Popen[bytes]) -> None:
        """Wait until it has come some batches further; kill an executor on the way, or none."""
        begin = time.monotonic()
        first = self._written()
        executor, end = (self._random.uniform(0, 4), self._random.uniform(1, 4))
        while driver.poll() is None and time.monotonic() - begin < _PATIENCE_SECONDS:
            time.sleep(self._random.uniform(0, _POLL_SECONDS))
            further = self._written() - first
            if further > executor:
                executor = self.files
                self.happened["executors killed"] += kill(driver.pid, EXECUTOR, at_most=1)
            if further > end:
                # Anywhere in the next batch.
                time.sleep(self._random.uniform(0, _BATCH_SECONDS))
                return

    def _written(self) -> int:
        return len(list((self.folder / "output").glob("*.json")))

    def _end(self, driver: subprocess.Popen[bytes]) -> None:
        """Kill a driver, whose executors outlive it for a while; count one that has failed."""
        if driver.poll() is None:
            self.happened["drivers killed"] += kill(driver.pid, DRIVER, at_most=1)
            driver.kill()
        elif driver.returncode:
            self.happened["queries failed"] += 1
        driver.wait()
        sys.stdout.flush()

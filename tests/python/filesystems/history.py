"""One history: a query with its checkpoint on HDFS, killed while parts of the cluster stop."""

from __future__ import annotations

import contextlib
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from filesystems.cluster import NODES, Cluster
from filesystems.places import HOLDFAST, MANAGER
from objectstores.history import PROVIDER, SPARKS, drawn_conf
from objectstores.processes import DRIVER, EXECUTOR, kill, start
from objectstores.windows import write_input

_PATIENCE_SECONDS = 600.0
_LONGEST_PAUSE_SECONDS = 2.0


@dataclass(kw_only=True)
class History:
    """What is drawn from a seed; its folder takes input, output, states and logs.

    Attributes:
        seed: all is drawn from it, but what the scheduling of processes does.
        folder: a new folder.
        master: Spark's.
        files: of input, one for each batch, as a rule.
        kills: how often the driver is killed.
        sparks: whether the state is in Spark's default provider, to see what differs.
    """

    seed: int
    folder: Path
    master: str = "local-cluster[2,1,1024]"
    files: int = 16
    kills: int = 4
    sparks: bool = False
    happened: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self.retained = self._random.choice([3, 100])
        self.conf = drawn_conf(self._random, self.retained)
        if self._random.random() < 1 / 2:
            self.conf[MANAGER] = HOLDFAST
        if self.sparks:
            self.conf[PROVIDER] = SPARKS

    @property
    def checkpoint(self) -> str:
        """Path of the checkpoint in the cluster."""
        return f"/{self.folder.name}"

    def run(self, cluster: Cluster, spark: Mapping[str, str]) -> None:
        """Run the query to its end.

        Raises:
            RuntimeError: it does not reach it although nothing happens any more.
        """
        write_input(self.folder / "input", self.files)
        for name in ("output", "states"):
            (self.folder / name).mkdir()
        for _ in range(self.kills):
            if self._written() < self.files:
                with self._started(cluster, spark) as driver:
                    self._disturb(cluster, driver)
        cluster.start_nodes()
        cluster.wait()
        for _ in range(3):
            # A run may find what the one before has left at this moment.
            with self._started(cluster, spark) as driver:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    driver.wait(_PATIENCE_SECONDS)
                if driver.poll() == 0:
                    return
        log = (self.folder / "log.txt").read_text()
        raise RuntimeError(f"the query does not go on: {log[-3000:]}")

    @contextmanager
    def _started(
        self, cluster: Cluster, spark: Mapping[str, str]
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start the query, and kill it in the end, with executors that would outlive it a while."""
        settings = {
            "master": self.master,
            "input": str(self.folder / "input"),
            "output": str(self.folder / "output"),
            "states": str(self.folder / "states"),
            "read": self.retained,
            "jars": [],
            "checkpoint": f"{cluster.url}{self.checkpoint}",
            "conf": self.conf,
        }
        driver = start(self.folder, settings, spark)
        try:
            yield driver
        finally:
            if driver.poll() is None:
                self.happened["drivers killed"] += kill(driver.pid, DRIVER, at_most=1)
                driver.kill()
            elif driver.returncode:
                self.happened["queries failed"] += 1
            driver.wait()

    def _disturb(self, cluster: Cluster, driver: subprocess.Popen[bytes]) -> None:
        """Wait until the query has come some batches further, and stop parts of the cluster.

        A DataNode stops at a batch and comes back at a later one; the NameNode restarts at one.
        """
        begin = time.monotonic()
        first = self._written()
        end = self._random.uniform(1, 5)
        at = {
            "data nodes stopped": self._random.uniform(0, end),
            "data nodes started": self._random.uniform(0, end),
            "name node restarted": self._random.uniform(0, end),
            "safe mode": self._random.uniform(0, 2 * end),
            "executors killed": self._random.uniform(0, 2 * end),
        }
        while driver.poll() is None and time.monotonic() - begin < _PATIENCE_SECONDS:
            time.sleep(self._random.uniform(0, 0.2))
            further = self._written() - first
            for what in [what for what, when in at.items() if when < further]:
                del at[what]
                self._do(what, cluster, driver)
            if further > end:
                time.sleep(self._random.uniform(0, _LONGEST_PAUSE_SECONDS))
                return

    def _do(self, what: str, cluster: Cluster, driver: subprocess.Popen[bytes]) -> None:
        if what == "executors killed":
            self.happened[what] += kill(driver.pid, EXECUTOR, at_most=1)
            return
        self.happened[what] += 1
        if what == "data nodes stopped":
            if not cluster.stopped:
                cluster.stop_node(self._random.randrange(NODES))
        elif what == "data nodes started":
            cluster.start_nodes()
        elif what == "name node restarted":
            cluster.stop_name_node()
            time.sleep(self._random.uniform(0, _LONGEST_PAUSE_SECONDS))
            cluster.start_name_node()
        else:
            cluster.set_safe_mode(on=True)
            time.sleep(self._random.uniform(0, _LONGEST_PAUSE_SECONDS))
            cluster.set_safe_mode(on=False)

    def _written(self) -> int:
        return len(list((self.folder / "output").glob("*.json")))

"""Starts a driver process, gives it orders, and kills it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from harness import search_path, spark_variables
from objectstores.processes import DRIVER, pids
from soak import ANSWER
from soak.expected import Expected
from soak.sinks import WITH_LOG
from soak.sources import Source

_PATIENCE_SECONDS = 300.0
_POLL_SECONDS = 0.05
_TESTS = Path(__file__).parents[1]
# Else the C library takes an arena of 32 MiB more whenever threads happen to allocate at once, and
# memory that goes up by steps for hours hides what grows.
_FEW_ARENAS = {"MALLOC_ARENA_MAX": "2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a driver is started for.

    Attributes:
        folder: takes checkpoint, log and what Spark leaves behind.
        source: what the query reads.
        master: of Spark.
        conf: more settings of Spark.
        jars: more jars.
    """

    folder: Path
    source: Source
    master: str = "local[2]"
    conf: Mapping[str, str] = field(default_factory=dict)
    jars: tuple[Path, ...] = ()

    @property
    def checkpoint(self) -> Path:
        """The folder of the checkpoint."""
        return self.folder / "checkpoint"

    @property
    def log(self) -> Path:
        """What the drivers have said."""
        return self.folder / "log.txt"

    @property
    def retained(self) -> int:
        """How many batches are kept."""
        return int(self.conf.get("spark.sql.streaming.minBatchesToRetain", "100"))

    def committed(self) -> int:
        """Return the newest committed batch, -1 if there is none."""
        return self._newest("commits")

    def planned(self) -> int:
        """Return the newest batch that has begun, -1 if there is none."""
        return self._newest("offsets")

    def expected(self, sink: Callable[[], str]) -> Expected:
        """Return what is expected of the batches.

        Args:
            sink: tells where the query writes to.
        """
        return Expected(
            self.source.events,
            lambda batch: self.source.read(self.checkpoint, batch),
            lambda batch: sink() in WITH_LOG and self._keeps_watermark(batch),
        )

    def _keeps_watermark(self, batch: int) -> bool:
        """Tell whether a batch and the one after it began with the same watermark.

        A sink with a log may have had a batch when it was made again: Spark does not run it then
        (`FileStreamSink.addBatch`, Spark 4.2), sees none of its times, and the watermark stays.
        """
        return self._watermark(batch) == self._watermark(batch + 1)

    def _watermark(self, batch: int) -> int:
        """Return the watermark that a batch began with in milliseconds, by the query's own log."""
        lines = (self.checkpoint / "offsets" / str(batch)).read_text().splitlines()
        return int(json.loads(lines[1])["batchWatermarkMs"])

    def _newest(self, name: str) -> int:
        log = self.checkpoint / name
        found = [path.name for path in log.iterdir()] if log.exists() else []
        return max((int(name) for name in found if name.isdigit()), default=-1)


class DriverError(RuntimeError):
    """A driver ended, or its query did, without being told to."""


class Process:
    """A driver process; leaving it kills it."""

    def __init__(self, job: Job) -> None:
        self._job = job
        settings = {
            "master": job.master,
            "checkpoint": str(job.checkpoint),
            "rows": job.source.events.rows,
            "cycle": job.source.events.cycle,
            "conf": dict(job.conf),
            "jars": [str(jar) for jar in job.jars],
        }
        with job.log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "soak.driver", json.dumps(settings)],
                cwd=job.folder,
                env={**spark_variables(), **_FEW_ARENAS, "PYTHONPATH": search_path(_TESTS)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                # A group of its own, to kill all at once.
                start_new_session=True,
            )

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    @property
    def session(self) -> int:
        """Number of the session that has all its processes."""
        return self._process.pid

    @property
    def jvm(self) -> int:
        """Number of the JVM's process."""
        return pids(self.session, DRIVER)[0]

    def order(self, name: str, **arguments: object) -> Any:  # noqa: ANN401 - as the method gives it
        """Have a method of `Driver` called; return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        hung = threading.Timer(_PATIENCE_SECONDS, self._kill_group)
        hung.start()
        try:
            with contextlib.suppress(BrokenPipeError):  # said below
                self._process.stdin.write(json.dumps({"order": name, **arguments}) + "\n")
                self._process.stdin.flush()
            for line in self._process.stdout:
                if line.startswith(ANSWER):
                    return json.loads(line.removeprefix(ANSWER))
        finally:
            hung.cancel()
        raise DriverError(f"a driver has ended, or took too long to {name}: {self._end_of_log()}")

    def wait_for(self, batch: int) -> None:
        """Wait until a batch is committed."""
        what = f"batch {batch}"
        self.wait_until(lambda: self._job.committed() >= batch, what, poll_seconds=_POLL_SECONDS)

    def wait_until(
        self, condition: Callable[[], bool], what: str, *, poll_seconds: float = 0.002
    ) -> None:
        """Wait until something is so, which the query does; notice it at once by default."""
        end = time.monotonic() + _PATIENCE_SECONDS
        look = time.monotonic() + 1
        while not condition():
            time.sleep(poll_seconds)
            if time.monotonic() > look:
                look = time.monotonic() + 1
                self.require_running()
            if time.monotonic() > end:
                raise DriverError(f"{what} does not come: {self._end_of_log()}")

    def require_running(self) -> None:
        """Check that the query runs, and has something to read."""
        self._job.source.check()
        failure = self.order("failure")
        if failure:
            raise DriverError(f"the query has failed: {failure}\n{self._end_of_log()}")

    def require_refusal(self, reason: str) -> None:
        """Check that the query fails, for a reason that its error has a word of."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while (failure := self.order("failure")) is None:
            if time.monotonic() > end:
                raise DriverError(f"the query goes on, and does not fail for {reason}")
            time.sleep(_POLL_SECONDS)
        if reason not in failure:
            raise DriverError(f"the query has failed, but not for {reason}: {failure}")

    def kill(self) -> None:
        """Kill Python, its JVM and its executors with SIGKILL; workers in Python end then."""
        if self._process.poll() is None:
            self._kill_group()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _kill_group(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)

    def _end_of_log(self) -> str:
        return self._job.log.read_text(errors="replace")[-3000:]

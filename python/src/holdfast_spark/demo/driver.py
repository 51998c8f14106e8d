"""A Spark driver in a process of its own, which can be watched and killed."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import IO, Any, cast

from holdfast_spark.demo.errors import DemoError, DemoUsageError
from holdfast_spark.demo.plan import Layout
from holdfast_spark.metrics import ProgressMetrics, progress_metrics

CHILD = (sys.executable, "-m", "holdfast_spark.demo.child")
READ_BYTES = 1 << 16
LOG_LINES = 3


class Driver:
    """The process that runs one stage of the demo (`holdfast_spark.demo.child`).

    A context manager: leaving it kills the process if it still runs. To be used by one thread.
    `done` tells whether the stage was completed, and `outcome` has what it came to.

    The process leads a session of its own, so that a signal reaches the JVM too, which pyspark
    starts as a child: were Python killed alone, the JVM would notice and close the query in good
    order. Its reports come over its standard output, which the JVM inherits: the end of the stream
    tells that both are gone.
    """

    def __init__(self, stage: str, layout: Layout, arguments: Sequence[str] = ()) -> None:
        self.done = False
        self.outcome: dict[str, Any] = {}
        self._stage = stage
        self._log = layout.log(stage)
        self._partial_line = b""
        self._ended = False
        layout.scratch.mkdir(exist_ok=True)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*CHILD, stage, str(layout.work), *arguments],
                cwd=layout.scratch,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._pipe = cast(IO[bytes], self._process.stdout)

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        self._pipe.close()

    def kill(self) -> None:
        """Kill Python and JVM with SIGKILL, which lets neither close anything.

        Returns when both are gone. Does nothing when they are.
        """
        if not self._ended:
            os.killpg(self._process.pid, signal.SIGKILL)
            while not self._ended:
                self._read_lines()

    def progress(self, *, tick_seconds: float | None = None) -> Iterator[ProgressMetrics | None]:
        """Yield each progress of the driver's query, until the driver ends.

        Also yields None after each `tick_seconds` without news.

        Raises:
            DemoError: the driver failed, or ended in the midst of its work.
            DemoUsageError: the driver found that something was asked for that cannot be.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            while not self._ended:
                if not selector.select(tick_seconds):
                    yield None
                    continue
                for line in self._read_lines():
                    report = json.loads(line)
                    if report["event"] == "progress":
                        yield progress_metrics(report["progress"])
                    else:
                        self._finish(report)
        if not self.done:
            raise DemoError(self._sudden_end())

    def run(self) -> dict[str, Any]:
        """Wait for the end of the driver and return its outcome; raises as `progress` does."""
        for _ in self.progress():
            pass
        return self.outcome

    def _read_lines(self) -> list[bytes]:
        """Wait for output and return its complete lines that are reports; notes the end."""
        read = os.read(self._pipe.fileno(), READ_BYTES)
        if not read:
            self._ended = True
            self._process.wait()
            return []
        *lines, self._partial_line = (self._partial_line + read).split(b"\n")
        return [line for line in lines if line.startswith(b"{")]

    def _finish(self, report: dict[str, Any]) -> None:
        if report["event"] == "done":
            self.done, self.outcome = True, report["outcome"]
        elif report["usage"]:
            raise DemoUsageError(report["sentence"])
        else:
            raise DemoError(f"{report['sentence'].rstrip('.')} (log: {self._log})")

    def _sudden_end(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        last = " | ".join(line.strip() for line in lines[-LOG_LINES:]) or "nothing"
        return (
            f"the {self._stage} driver ended with exit code {self._process.returncode} before it "
            f"was done; its log {self._log} ends with: {last}"
        )

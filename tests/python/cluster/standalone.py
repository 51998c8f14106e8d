"""A standalone cluster on this machine: a master and workers, each a process.

Each worker has a loopback address of its own. So Spark takes them for different machines: a store
has a place, and a speculative attempt goes elsewhere.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from harness import spark_variables
from objectstores.processes import EXECUTOR, pids

if TYPE_CHECKING:
    from collections.abc import Iterator

_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_HOST = "127.0.0.1"
_PATIENCE_SECONDS = 120.0
_POLL_SECONDS = 0.05
_LOG_CHARACTERS = 3000
_DAEMON_MEMORY = "192m"

SILENT_SECONDS = 4
"""A worker that the master has not heard from for so long is lost to it."""


@dataclass(slots=True)
class Worker:
    """A worker: one process, and its executors, which are in its session."""

    host: str
    process: subprocess.Popen[bytes]

    @property
    def executors(self) -> list[int]:
        """The numbers of its executors' processes."""
        return sorted(pids(self.process.pid, EXECUTOR))

    def signal(self, number: int) -> None:
        """Send a signal to it and to its executors."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Stop it and its executors for a while, wherever they are."""
        self.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.signal(signal.SIGCONT)


@dataclass(kw_only=True)
class Standalone:
    """A cluster; leaving it kills all of it.

    Attributes:
        folder: takes what its parts write.
        cores: of a worker.
        workers: those that have not been killed.
    """

    folder: Path
    cores: int = 2
    workers: list[Worker] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._port = _free_port()
        self._master = self._started_master()

    def __enter__(self) -> Standalone:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    @property
    def url(self) -> str:
        """The master's address, for Spark."""
        return f"spark://{_HOST}:{self._port}"

    @property
    def executors(self) -> list[int]:
        """The numbers of all executors' processes."""
        return [pid for worker in self.workers for pid in worker.executors]

    def said_by_executors(self) -> str:
        """Return the last that each executor has written to its log, those that have ended too."""
        return "\n".join(
            f"{log.relative_to(self.folder)}: {log.read_text(errors='replace')[-_LOG_CHARACTERS:]}"
            for log in sorted(self.folder.glob("work/*/*/stderr"))
        )

    def add_worker(self) -> Worker:
        """Start a worker at the first address that is free."""
        taken = {worker.host for worker in self.workers}
        host = next(host for n in range(2, 255) if (host := f"127.0.0.{n}") not in taken)
        process = self._start(
            host,
            _WORKER,
            *("--host", host, "--cores", str(self.cores), "--memory", "4g"),
            *("--webui-port", "0", "--work-dir", str(self.folder / "work")),
            self.url,
        )
        worker = Worker(host, process)
        self.workers.append(worker)
        return worker

    def kill_worker(self, worker: Worker) -> None:
        """Kill a worker and its executors with SIGKILL."""
        self.workers.remove(worker)
        worker.signal(signal.SIGKILL)
        worker.process.wait()

    def kill_master(self) -> None:
        """Kill the master with SIGKILL."""
        self._master.kill()
        self._master.wait()

    def start_master(self) -> None:
        """Start another master, which reads what the one before has left."""
        self._master = self._started_master()

    def kill(self) -> None:
        """Kill all that is there."""
        for worker in [*self.workers]:
            self.kill_worker(worker)
        self.kill_master()

    def _started_master(self) -> subprocess.Popen[bytes]:
        ports = ("--port", str(self._port), "--webui-port", "0")
        process = self._start(_HOST, _MASTER, "--host", _HOST, *ports)
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            with suppress(OSError), socket.create_connection((_HOST, self._port)):
                return process
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                process.wait()
                log = (self.folder / "cluster.txt").read_text(errors="replace")
                raise RuntimeError(f"the master does not start: {log[-3000:]}")
            time.sleep(_POLL_SECONDS)

    def _start(self, host: str, *command: str) -> subprocess.Popen[bytes]:
        options = {
            "spark.deploy.recoveryMode": "FILESYSTEM",
            "spark.deploy.recoveryDirectory": str(self.folder / "recovery"),
            "spark.deploy.maxExecutorRetries": "-1",
            "spark.worker.timeout": str(SILENT_SECONDS),
        }
        java = " ".join(f"-D{name}={value}" for name, value in options.items())
        with (self.folder / "cluster.txt").open("ab") as log:
            return subprocess.Popen(
                ["spark-class", *command],
                cwd=self.folder,
                env={
                    **spark_variables(),
                    "SPARK_LOCAL_IP": host,
                    # What is left of executors that were killed goes with the folder.
                    "SPARK_LOCAL_DIRS": str(self.folder / "local"),
                    "SPARK_DAEMON_MEMORY": _DAEMON_MEMORY,
                    "SPARK_MASTER_OPTS": java,
                    "SPARK_WORKER_OPTS": java,
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A session of its own, to signal it and its executors together.
                start_new_session=True,
            )


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((_HOST, 0))
        return int(one.getsockname()[1])

"""What a driver holds at a moment, and the file that all moments are written to."""

from __future__ import annotations

import csv
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TextIO

from soak.process import Job, Process

_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A moment.

    Attributes:
        seconds: since the beginning.
        life: number of the driver, counted from 1.
        batch: the newest committed one.
        sink: the one in use.
        rows: in the state.
        heap_mib: on the heap, after a garbage collection.
        classes_mib: what classes take.
        code_mib: compiled code, which the compiler throws away when its cache is full.
        rss_mib: the memory of the JVM's process.
        direct_mib: in direct buffers.
        threads: of the JVM's process.
        handles: open files and sockets of the JVM's process.
        files: in the checkpoint.
    """

    seconds: float
    life: int
    batch: int
    sink: str
    rows: float
    heap_mib: float
    classes_mib: float
    code_mib: float
    rss_mib: float
    direct_mib: float
    threads: float
    handles: float
    files: float

    @property
    def process_mib(self) -> float:
        """The memory of the JVM's process but for compiled code."""
        return self.rss_mib - self.code_mib


def take(process: Process, job: Job, *, seconds: float, life: int, sink: str) -> Sample:
    """Look at a driver whose query runs."""
    process.require_running()
    batch = job.committed()
    held = process.order("measure")
    jvm = Path("/proc") / str(process.jvm)
    status = dict(line.split(":", 1) for line in (jvm / "status").read_text().splitlines())
    return Sample(
        seconds=round(seconds, 1),
        life=life,
        batch=batch,
        sink=sink,
        rows=held["rows"],
        heap_mib=_mib(held["heap"]),
        classes_mib=_mib(held["classes"]),
        code_mib=_mib(held["code"]),
        rss_mib=_mib(int(status["VmRSS"].split()[0]) << 10),
        direct_mib=_mib(held["direct"]),
        threads=int(status["Threads"]),
        handles=len(os.listdir(jvm / "fd")),  # noqa: PTH208 - its entries go while it is read
        files=sum(len(names) for _, _, names in os.walk(job.checkpoint)),
    )


def _mib(size: float) -> float:
    return round(size / _MIB, 3)


class Samples:
    """All moments, kept in a CSV file as they are taken."""

    def __init__(self, file: TextIO) -> None:
        self.taken: list[Sample] = []
        self._file = file
        self._rows = csv.DictWriter(file, [field.name for field in fields(Sample)])
        self._rows.writeheader()

    def add(self, sample: Sample) -> None:
        """Keep a moment."""
        self.taken.append(sample)
        self._rows.writerow(asdict(sample))
        self._file.flush()

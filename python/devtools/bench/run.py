"""A run of `io.holdfast.bench.Measure`, in a JVM of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

HOLDFAST = "holdfast"
HDFS = "hdfs"
ROCKSDB = "rocksdb"
ROCKSDB_DEFAULTS = "rocksdb-defaults"
# With Spark's format 4 of stream-stream joins, whose rows lie in the order of time.
ROCKSDB_JOIN_4 = "rocksdb-join-4"

HEAP = "6g"
LARGEST_HEAP = "14g"
# What HDFSBacked needs for a join of ten million rows a side.
JOIN_HEAP = "18g"

LARGEST = 50_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """A measurement of one provider.

    Attributes:
        measure: name of the measurement.
        provider: who is measured.
        arguments: what else the measurement is told, by name.
        heap: the JVM's heap, as `-Xmx` takes it.
        options: other options of the JVM, one after another.
        repeats: how many JVMs measure it, one after another; numbers are medians of theirs.
        group: what it is a part of, if not simply one of its measurement.
    """

    measure: str
    provider: str
    arguments: dict[str, str | int]
    heap: str = HEAP
    options: str = ""
    repeats: int = 1
    group: str = ""

    @property
    def name(self) -> str:
        """What one asks for to have it run: its group or its measurement."""
        return self.group or self.measure

    @property
    def java_options(self) -> list[str]:
        """The options that the JVM is started with.

        Its memory is touched before: the first use of a page takes the system longer than most of
        what is measured, and in an executor it was long ago.
        """
        heap = [f"-Xmx{self.heap}", f"-Xms{self.heap}"]
        return [*heap, "-XX:+AlwaysPreTouch", *self.options.split()]

    @property
    def title(self) -> str:
        """What is measured, whoever is."""
        arguments = (f"{name} {value}" for name, value in self.arguments.items())
        options = (f"-Xms{self.heap}", *self.options.split())
        repeats = (f"medians of {self.repeats} JVMs",) if self.repeats > 1 else ()
        return f"{self.measure}: {', '.join((*arguments, *options, *repeats))}"

    @property
    def words(self) -> list[str]:
        """The command line of the measurement."""
        arguments = {"provider": self.provider, **self.arguments}
        return [self.measure, *(f"{name}={value}" for name, value in arguments.items())]


def each(
    measure: str, providers: Sequence[str], arguments: dict[str, str | int], heap: str = HEAP
) -> Iterator[Run]:
    """Yield a run of each provider."""
    for provider in providers:
        yield Run(measure, provider, arguments, heap)

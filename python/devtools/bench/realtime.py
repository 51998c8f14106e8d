"""The command `./dev bench-realtime`: how long a record takes in real-time mode."""

from __future__ import annotations

from devtools import processes
from devtools.workshop import Workshop

_QUERIES = ("aggregation", "deduplication", "transformWithState")
# The source asks the driver for each record: on two processors some 600 in a second, at most.
_DEFAULTS = {"keys": "100000", "rate": "200", "batch": "10", "batches": "6", "turns": "2"}
_HEAP = "4g"


def bench_realtime(workshop: Workshop, words: list[str]) -> int:
    """Measure each query, or the one that is asked for, in a JVM of its own, and print tables.

    Args:
        workshop: where the work is done.
        words: what the benchmark is told, as `name=value`.
    """
    line = workshop.line(None).line
    workshop.sbt("benchmarks", f"-Dbench.line={line}", "bench/javaArguments")
    arguments = workshop.root / "jvm" / "bench" / "target" / "java-arguments"
    java = workshop.java.home / "bin" / "java"
    heap = (f"-Xmx{_HEAP}", f"-Xms{_HEAP}", "-XX:+AlwaysPreTouch")
    asked = dict(word.partition("=")[::2] for word in words)
    for query in [asked["query"]] if "query" in asked else _QUERIES:
        told = {**_DEFAULTS, **asked, "query": query}
        values = [f"{name}={value}" for name, value in told.items()]
        print(" ".join(values), flush=True)
        program = ["io.holdfast.bench.RealTime", *values]
        command = [str(java), f"@{arguments}", *heap, *program]
        if code := processes.run(command):
            return code
    return 0

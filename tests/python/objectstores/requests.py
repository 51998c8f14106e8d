"""Counts what a query asks of an object store, on Holdfast and on Spark's default provider.

The query, its input and the store are the same for both. A batch ends with its file in the commit
log, so what it costs follows from the order of the requests alone.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from histories import counts, new_folder, say

from objectstores.faulty import Faults, FaultyStore, Request
from objectstores.history import ABORTABLE, MANAGER, PROVIDER, SPARKS
from objectstores.judge import wrong_output
from objectstores.processes import start
from objectstores.server import BUCKET, s3a_settings
from objectstores.windows import write_input

_MANAGERS = {
    "default": None,
    "for-object-stores": ABORTABLE,
    "holdfast": "io.holdfast.HoldfastCheckpointFileManager",
}
_PROVIDERS = {"holdfast": None, "spark": SPARKS}
_BATCHES = 16
_PATIENCE_SECONDS = 300.0
_STATE_STORE = "spark.sql.streaming.stateStore"

_AT_REST = {f"{_STATE_STORE}.maintenanceInterval": "1h"}
# So that snapshots and deletions fall into the few batches.
_MAINTAINED = {
    f"{_STATE_STORE}.maintenanceInterval": "1s",
    f"{_STATE_STORE}.minDeltasForSnapshot": "3",
    "spark.sql.streaming.minBatchesToRetain": "2",
}


@dataclass(frozen=True)
class Count:
    """Requests, and of them those for files, folders and listings of the state."""

    all: float
    state: float

    @classmethod
    def of(cls, requests: Sequence[Request], *, each: int = 1) -> Count:
        """Count the requests of so many batches, for each of them."""
        state = sum("/state/" in f"{request.key}/" for request in requests)
        return cls(len(requests) / each, state / each)

    def __str__(self) -> str:
        return f"{self.all:.1f} ({self.state:.1f} for state)"

    def is_below(self, other: Count) -> bool:
        """Return whether there are fewer of both."""
        return self.all < other.all and self.state < other.state

    def is_not_above(self, other: Count) -> bool:
        """Return whether there are no more of either."""
        return self.all <= other.all and self.state <= other.state


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query with its checkpoint in a store.

    Attributes:
        name: of its folder and its checkpoint.
        conf: Spark's settings.
    """

    name: str
    conf: Mapping[str, str]
    store: FaultyStore
    spark: Mapping[str, str]
    jars: Path
    folder: Path

    def run(self, batches: int, conf: Mapping[str, str]) -> list[Request]:
        """Run it until it has so many batches, from where it was; return what it asked for."""
        write_input(self.folder / "input", batches)
        (self.folder / "output").mkdir(exist_ok=True)
        self.store.faults = Faults(0, 0)
        settings = {
            "master": "local[2]",
            "input": str(self.folder / "input"),
            "output": str(self.folder / "output"),
            "jars": sorted(str(jar) for jar in self.jars.glob("*.jar")),
            "checkpoint": f"s3a://{BUCKET}/{self.name}",
            "conf": {**self.conf, **conf, **s3a_settings(self.store.url, prefix="spark.hadoop.")},
        }
        driver = start(self.folder, settings, self.spark)
        try:
            driver.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            driver.kill()
            raise
        if wrong := [*wrong_output(self.folder / "output", batches)]:
            raise RuntimeError(f"{self.name}: {wrong}, see log.txt in {self.folder}")
        return self.store.faults.requests

    def batch(self, requests: Sequence[Request]) -> list[Request]:
        """Return the requests of the last batch but one, which begins and ends with a commit."""
        log = re.compile(rf"{self.name}/commits/\d+")
        ends = [
            place
            for place, request in enumerate(requests)
            if request.verb in ("PUT", "COPY") and log.fullmatch(request.key)
        ]
        return list(requests[ends[-3] + 1 : ends[-2] + 1])

    def kinds(self, requests: Sequence[Request]) -> Iterator[str]:
        """Yield the verb of each request and what kind of path it is for."""
        for verb, key in requests:
            path = key.removeprefix(f"{self.name}/").strip("/")
            path = re.sub(r"\.[^/]*\.tmp$", "TEMPORARY", path)
            path = re.sub(r"^state/\d+/\d+", "state/PARTITION", path)
            yield f"{verb} {re.sub(r'(?<![^/])[0-9]+(?![^/.])', 'N', path)}"


def makes_fewer(store: FaultyStore, spark: Mapping[str, str], jars: Path, folder: Path) -> bool:
    """Print the requests with each file manager; return whether Holdfast makes fewer with all."""
    fewer = True
    for manager, manager_class in _MANAGERS.items():
        found = {}
        for provider, provider_class in _PROVIDERS.items():
            name = f"count-{manager}-{provider}"
            conf = {MANAGER: manager_class, PROVIDER: provider_class}
            query, maintained = (
                Query(
                    name=each,
                    conf={key: value for key, value in conf.items() if value},
                    store=store,
                    spark=spark,
                    jars=jars,
                    folder=new_folder(folder / each),
                )
                for each in (name, f"{name}-maintained")
            )
            requests = query.batch(query.run(_BATCHES, _AT_REST))
            found[provider] = (
                Count.of(requests),
                Count.of(query.run(_BATCHES + 1, _AT_REST)),
                Count.of(maintained.run(_BATCHES, _MAINTAINED), each=_BATCHES),
            )
            texts = map(str, found[provider])
            say(f"{name}: a batch: %s, a restart: %s, with maintenance a batch: %s" % (*texts,))
            say(f"  a batch: {counts(Counter(query.kinds(requests)))}")
        (batch, *others), (of_spark, *others_of_spark) = found["holdfast"], found["spark"]
        # Holdfast's manager writes the files of the other provider with one request, too.
        compare = Count.is_below if manager != "holdfast" else Count.is_not_above
        fewer &= compare(batch, of_spark)
        pairs = zip(others, others_of_spark, strict=True)
        fewer &= all(mine.is_below(of_spark) for mine, of_spark in pairs)
    say("Holdfast makes fewer requests" if fewer else "Holdfast does not make fewer requests")
    return fewer

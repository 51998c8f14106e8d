"""The plan of one run: which files lie where, and which query runs over them.

The plan is written to the work folder as JSON, because the query runs in processes of its own.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ValueKind = Literal["integer", "decimal", "floating"]


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders of a run, all below one work folder."""

    work: Path

    @property
    def input(self) -> Path:
        """The files that the query reads as a stream."""
        return self.work / "input"

    @property
    def weather(self) -> Path:
        """The hourly weather that flights are joined with."""
        return self.work / "weather"

    @property
    def checkpoint(self) -> Path:
        """The checkpoint location of the query that the plan names."""
        return self.checkpoint_of("statistics")

    def checkpoint_of(self, query: str) -> Path:
        """Return the checkpoint location of a query by its name."""
        return self.work / "checkpoint" / query

    def output_of(self, query: str) -> Path:
        """Return where a query writes: one folder `batch=N` for each micro-batch."""
        return self.work / "output" / query

    @property
    def scratch(self) -> Path:
        """Spark's temporary files. A killed driver cannot delete its own."""
        return self.work / "scratch"

    @property
    def plan(self) -> Path:
        """The plan, as JSON."""
        return self.work / "plan.json"

    def log(self, stage: str) -> Path:
        """Return the log of the driver process that ran `stage`."""
        return self.work / f"{stage}.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlightsQuery:
    """Delay statistics per carrier, hour and weather over the flights of the demo.

    `watermark` is an interval as Spark reads it ("61 days").
    """

    watermark: str
    kind: Literal["flights"] = "flights"


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A numeric column of the user's files: its name there and what kind of number it is."""

    name: str
    kind: ValueKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnsQuery:
    """Statistics of numeric columns per key and window of time over the user's own files.

    The input has the columns `time`, `key0`, `key1`, ... and `value0`, `value1`, ...; `keys` and
    `values` say what they are called in the user's files.
    """

    time: str
    keys: tuple[str, ...]
    values: tuple[Value, ...]
    window: str
    watermark: str
    kind: Literal["columns"] = "columns"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one run streams and how.

    `schema` is a DDL string; `rows` counts the rows in `files` files, of which each micro-batch
    reads one; `events` is the number of rows after deduplication where it is known without Spark;
    `summary` says in a few words what was written; `brief` whether a driver takes only seconds.
    """

    source: str
    format: Literal["csv", "parquet"]
    schema: str
    files: int
    rows: int
    events: int | None
    summary: str
    brief: bool
    query: FlightsQuery | ColumnsQuery

    @property
    def kill_batch(self) -> int:
        """The micro-batch in which the driver is killed: the middle one."""
        return self.files // 2

    def write(self, path: Path) -> None:
        """Write the plan as JSON."""
        path.write_text(json.dumps(dataclasses.asdict(self), indent=2), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Plan:
        """Read a plan that `write` wrote."""
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**fields, "query": _query(fields["query"])})


def _query(fields: dict[str, Any]) -> FlightsQuery | ColumnsQuery:
    if fields["kind"] == "flights":
        return FlightsQuery(**fields)
    values = tuple(Value(**value) for value in fields["values"])
    return ColumnsQuery(**{**fields, "keys": tuple(fields["keys"]), "values": values})

"""What a run of the demo found: whether stream and batch agree, and the numbers around it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast_spark.checkpoint.inspection import OperatorSummary
from holdfast_spark.demo.kill_point import KillPoint
from holdfast_spark.demo.table import Table
from holdfast_spark.metrics import OperatorMetrics

PROVIDER_CLASS = "io.holdfast.HoldfastStateStoreProvider"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The comparison of the stream's result with the same computed in batch.

    Attributes:
        groups: groups that batch found.
        events: events that batch counted in them, after deduplication.
        different: groups that differ, are missing or should not be there.
        samples: the first of the different groups, in words.
        tables: the stream's result as a person wants to see it.
    """

    groups: int
    events: int
    different: int
    samples: tuple[str, ...]
    tables: tuple[Table, ...]

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Check:
        """Return a check that went through `dataclasses.asdict` and JSON."""
        tables = tuple(Table.from_json(table) for table in fields["tables"])
        return cls(**{**fields, "samples": tuple(fields["samples"]), "tables": tables})


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    """The outcome of a run.

    Attributes:
        source: where the rows came from.
        rows: rows in the input, duplicates included.
        written_events: events in the input where the demo made it itself and knows, else None.
        batches: micro-batches that the query took.
        killed: where the query stood when its driver was killed.
        resumed_at: the first batch of the second driver.
        provider: the state store provider noted in the checkpoint.
        dropped_by_watermark: rows that the stream left out as too late; batch leaves out none.
        last_batch: the last batch that read rows; the watermark may have asked for one after it.
        operators: the state after `last_batch`, of each stateful operator.
        files: the files in the checkpoint, of each stateful operator.
        check: the comparison with batch.
        sessions: that of the sessions of aircraft; None for the user's own files.
        seconds: time of the whole run.
        work: the folder with everything the run wrote.
    """

    source: str
    rows: int
    written_events: int | None
    batches: int
    last_batch: int
    killed: KillPoint
    resumed_at: int
    provider: str
    dropped_by_watermark: int
    operators: tuple[OperatorMetrics, ...]
    files: tuple[OperatorSummary, ...]
    check: Check
    sessions: Check | None
    seconds: float
    work: str

    @property
    def failures(self) -> list[str]:
        """What is wrong, a sentence each; empty when the results agree."""
        check, wrong = self.check, []
        if check.different:
            wrong.append(
                f"the stream's result differs from batch in {check.different:,} of "
                f"{check.groups:,} groups"
            )
        if self.sessions is not None and self.sessions.different:
            wrong.append(
                f"the stream's sessions differ from batch in {self.sessions.different:,} of "
                f"{self.sessions.groups:,}"
            )
        if self.written_events is not None and check.events != self.written_events:
            wrong.append(
                f"batch counts {check.events:,} events and {self.written_events:,} were written"
            )
        if self.dropped_by_watermark:
            wrong.append(
                f"the watermark dropped {self.dropped_by_watermark:,} rows of the stream, "
                "and no row of the input is that late"
            )
        if self.resumed_at != self.expected_resume:
            wrong.append(
                f"the second driver began with batch {self.resumed_at} and not with batch "
                f"{self.expected_resume}, which the first one left undone"
            )
        if self.provider != PROVIDER_CLASS:
            wrong.append(
                f"the checkpoint names {self.provider} as its state store provider and not "
                f"{PROVIDER_CLASS}"
            )
        return wrong

    @property
    def expected_resume(self) -> int:
        """The batch that the second driver has to begin with."""
        return self.killed.batch + 1 if self.killed.committed else self.killed.batch

    def as_json(self) -> dict[str, Any]:
        """Return the result as types that JSON has."""
        return {
            "agree": not self.failures,
            "failures": self.failures,
            **dataclasses.asdict(self),
        }

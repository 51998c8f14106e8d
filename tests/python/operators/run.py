"""One run of a query in a driver."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from operators import plan
from operators.cases import Case
from operators.inputs import Inputs
from operators.plan import Layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryProgress

ROWS = ("numRowsTotal", "numRowsUpdated", "numRowsRemoved", "numRowsDroppedByWatermark")
COUNTED = ("operatorName", "numShufflePartitions", "numStateStoreInstances", *ROWS)
"""What is kept of the progress of an operator."""

_DEADLINE_SECONDS = 120.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Run:
    """A query on a provider, up to its end or to the batch in which it is held."""

    case: Case
    provider: str
    layout: Layout
    held_at: int | None = None
    held: threading.Event = field(default_factory=threading.Event)

    def until_held_or_ended(self, spark: SparkSession) -> None:
        """Run the query in a session of its own; afterwards its output and progress are kept.

        Raises:
            StreamingQueryException: the query failed.
        """
        session = spark.newSession()
        provider_class = self.case.provider_class(self.provider)
        session.conf.set("spark.sql.streaming.stateStore.providerClass", provider_class)
        for name, value in self.case.settings.items():
            session.conf.set(name, value)
        query = (
            self._rows(session)
            .writeStream.outputMode(self.case.mode)
            .option("checkpointLocation", str(self._checkpoint))
            .trigger(availableNow=True)
            .foreachBatch(self._write)
            .start()
        )
        while query.isActive and not self.held.wait(_POLL_SECONDS):
            pass
        if not self.held.is_set():
            query.awaitTermination()
        self._keep(query.recentProgress)

    @property
    def _checkpoint(self) -> Path:
        return self.layout.checkpoint(self.case.name, self.provider)

    def _rows(self, session: SparkSession) -> DataFrame:
        make = getattr(import_module(self.case.module), self.case.query)
        rows: DataFrame = make(Inputs(session, self.layout.inputs), *self.case.arguments)
        return rows

    def _write(self, batch: DataFrame, batch_id: int) -> None:
        if batch_id == plan.SNAPSHOT_BATCH:
            self._await_snapshots()
        if batch_id == self.held_at:
            self._hold(batch, batch_id)
        output = self.layout.output(self.case.name, self.provider)
        write_json(output / f"{batch_id}.json", sorted(map(str, batch.collect())))

    def _hold(self, batch: DataFrame, batch_id: int) -> NoReturn:
        if batch_id == plan.TORN_BATCH:
            batch.sparkSession.sparkContext.runJob(batch.rdd, list, partitions=[0])
        else:
            batch.collect()
        self.held.set()
        threading.Event().wait()
        raise AssertionError("the driver is killed while it is held")

    def _await_snapshots(self) -> None:
        deltas = (self._checkpoint / "state").rglob(f"{plan.SNAPSHOT_BATCH}.delta")
        missing = {delta.with_suffix(".snapshot") for delta in deltas}
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while missing := {path for path in missing if not path.exists()}:
            if time.monotonic() > deadline:
                raise TimeoutError(f"maintenance has not written {missing}")
            time.sleep(_POLL_SECONDS)

    def _keep(self, reports: list[StreamingQueryProgress]) -> None:
        folder = self.layout.progress(self.case.name, self.provider)
        folder.mkdir(parents=True, exist_ok=True)
        for report in reports:
            # Before Spark 4.0 a dictionary of what the text has.
            text = getattr(report, "json", None)
            told = json.loads(text) if text else report
            operators = told["stateOperators"]
            counted = [{name: operator[name] for name in COUNTED} for operator in operators]
            write_json(folder / f"{told['batchId']}.json", counted)


def write_json(path: Path, value: object) -> None:
    """Write a value to a file, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))

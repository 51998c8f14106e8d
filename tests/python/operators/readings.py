"""What Spark's readers of checkpoints find in one: the `statestore` and `state-metadata` sources.

A reading is the rows of one read, each a list of its columns' texts. Rows are sorted, but for those
of a change feed, which come in the order of the changes. Where Spark has no such sources, there is
the newest state alone, as `holdfast_spark` reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast_spark import _jars
from holdfast_spark import checkpoint as holdfast_checkpoint
from operators import plan
from operators.cases import Case

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

METADATA = "metadata"
LATEST = "latest"
EARLIER = "earlier"
CHANGES = "changes"
FROM_SNAPSHOT = "from snapshot"
JOIN_SIDES = "join sides"

KINDS = (METADATA, LATEST, EARLIER, CHANGES, FROM_SNAPSHOT, JOIN_SIDES)

# The operators that the readings of all kinds are made of.
READ_IN_ALL_WAYS = (
    "window-append",
    "drop-duplicates-timed-append",
    "session-append",
    "join-left-outer-append",
    "windows-of-join-append",
)

_JOIN = "symmetricHashJoin"

Options = Mapping[str, str | int]
Rows = list[list[str]]
Readings = dict[str, dict[str, Rows]]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint of a query that has ended."""

    spark: SparkSession
    folder: Path
    case: Case

    def read(self) -> Readings:
        """Read it in all ways, or only its newest state."""
        if _jars.is_before(_jars.installed_spark_line(), "4.0"):
            return {kind: {} for kind in KINDS} | {LATEST: self._read_by_holdfast()}
        stores = self.spark.read.format("state-metadata").load(str(self.folder)).collect()
        readings: Readings = {kind: {} for kind in KINDS}
        readings[METADATA]["all"] = sorted(_texts(stores))
        for kind, options in self._reads(stores):
            name = " ".join(f"{option}={value}" for option, value in options.items())
            rows = self._rows(options)
            readings[kind][name] = rows if kind == CHANGES else sorted(rows)
        return readings

    def _read_by_holdfast(self) -> dict[str, Rows]:
        checkpoint = holdfast_checkpoint.Checkpoint.open(str(self.folder))
        named = {(store.operator_id, store.name) for store in checkpoint.stores}
        return {
            f"operatorId={operator_id} storeName={name}": sorted(
                [str(self._unmasked(column)) for column in row.values()]
                for piece in checkpoint.read(operator_id=operator_id, store_name=name)
                for row in piece.to_pylist()
            )
            for operator_id, name in named
        }

    def _unmasked(self, column: object) -> object:
        if not isinstance(column, dict):
            return column
        return {name: value for name, value in column.items() if name != self.case.masked}

    def _reads(self, stores: list[Row]) -> Iterator[tuple[str, Options]]:
        in_all_ways = self.case.name in READ_IN_ALL_WAYS
        for store in stores:
            options = {"operatorId": store.operatorId, "storeName": store.stateStoreName}
            if self.case.variables:
                yield from ((LATEST, {**options, "stateVarName": v}) for v in self.case.variables)
                if self.case.timers:
                    yield LATEST, {**options, "readRegisteredTimers": "true"}
                continue
            yield LATEST, options
            if in_all_ways:
                yield EARLIER, {**options, "batchId": plan.TORN_BATCH}
                yield CHANGES, {**options, "readChangeFeed": "true", "changeStartBatchId": 0}
                yield from _from_snapshot(options)
        for operator in {store.operatorId for store in stores if store.operatorName == _JOIN}:
            for side in ("left", "right") if in_all_ways else ():
                options = {"operatorId": operator, "joinSide": side}
                yield JOIN_SIDES, options
                yield JOIN_SIDES, {**options, "batchId": plan.TORN_BATCH}
                yield from ((JOIN_SIDES, read) for _, read in _from_snapshot(options))

    def _rows(self, options: Options) -> Rows:
        rows = self.spark.read.format("statestore").options(**options).load(str(self.folder))
        for column in rows.schema:
            if self.case.masked in getattr(column.dataType, "names", ()):
                unmasked = rows[column.name].dropFields(str(self.case.masked))
                rows = rows.withColumn(column.name, unmasked)
        return _texts(rows.collect())


def _texts(rows: list[Row]) -> Rows:
    return [[str(column) for column in row] for row in rows]


def _from_snapshot(options: Options) -> Iterator[tuple[str, Options]]:
    """The snapshot of each partition alone, and with the changes of a batch after it."""
    snapshot = plan.SNAPSHOT_BATCH - 1
    for partition in range(plan.PARTITIONS):
        for batch in (snapshot, plan.WRITTEN_BATCH):
            yield (
                FROM_SNAPSHOT,
                {
                    **options,
                    "batchId": batch,
                    "snapshotStartBatchId": snapshot,
                    "snapshotPartitionId": partition,
                },
            )

"""Stands in for Spark's RocksDB provider.

Its `N.zip` holds the rows of version N as Spark tells them. Like Spark, it knows column families by
their names alone: the numbers of tables are those of whoever asks.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from checkpoint.checkpoints import Row, records
from holdfast_spark.checkpoint.changes import carried_state
from holdfast_spark.checkpoint.changes.spark_state import SparkStore


class StandIn:
    """Stands in for Spark's RocksDB provider.

    Attributes:
        lost: rows that it loses.
        asked: the stores that it was asked to write.
    """

    def __init__(self) -> None:
        self.lost: Sequence[Row] = ()
        self.asked: list[SparkStore] = []
        self._numbers: dict[str, int] = {}

    @classmethod
    def put_up(cls, monkeypatch: pytest.MonkeyPatch) -> StandIn:
        """Put one into the place of Spark."""
        found = cls()

        @contextlib.contextmanager
        def spark_state(_: Path, *, writes: bool, families: bool) -> Iterator[StandIn]:  # noqa: ARG001
            yield found

        monkeypatch.setattr(carried_state, "spark_state", spark_state)
        return found

    def read(self, store: SparkStore, file: Path) -> int:
        content = self._zip(store).read_bytes()
        if store.families is not None:
            tables = {self._number(each.name): each.table for each in store.families}
            content = renumbered(content, tables)
        file.write_bytes(content)
        return 0

    def write(self, store: SparkStore, file: Path) -> int:
        self.asked.append(store)
        content = file.read_bytes()
        if store.families is not None:
            tables = {each.table: self._number(each.name) for each in store.families}
            content = renumbered(content, tables)
        for lost in self.lost:
            content = content.replace(records([lost])[:-4], b"")
        table = self._zip(store).parent / "SSTs" / "000001-a.sst"
        table.parent.mkdir()
        table.touch()
        self._zip(store).write_bytes(content)
        return 0

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    @staticmethod
    def _zip(store: SparkStore) -> Path:
        place = Path(store.state_folder) / str(store.operator_id) / str(store.partition_id)
        return place / f"{store.version}.zip"


def renumbered(content: bytes, tables: Mapping[int, int]) -> bytes:
    """Records with other numbers of tables, in the order of these."""
    rows: list[tuple[int, bytes]] = []
    at = 0
    while (table := struct.unpack_from(">i", content, at)[0]) >= 0:
        end = at + 4
        for _ in ("key", "value"):
            end += 4 + struct.unpack_from(">i", content, end)[0]
        rows.append((tables[table], content[at + 4 : end]))
        at = end
    ordered = sorted(rows, key=lambda row: row[0])
    return b"".join(struct.pack(">i", table) + row for table, row in ordered) + content[at:]

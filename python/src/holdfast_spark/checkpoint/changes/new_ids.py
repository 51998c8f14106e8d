"""Ids for stores that are written anew in checkpoint format 2; `lineage` tells what ids are."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from holdfast_spark.checkpoint.changes.spread import Spread
from holdfast_spark.checkpoint.files.lineage import NO_BASE, place_of
from holdfast_spark.checkpoint.files.logs import StateIds


class NewIds:
    """An id for each store, which needs no version before its own.

    Args:
        spreads: the stores of all operators.
        partitions: number of partitions that they are to have.
    """

    def __init__(self, spreads: Iterable[Spread], partitions: int) -> None:
        self._ids: dict[int, list[list[str]]] = {}
        for spread in spreads:
            count = spread.partition_count(partitions)
            of_operator = self._ids.setdefault(
                spread.operator.operator_id, [[] for _ in range(count)]
            )
            for of_partition in of_operator:
                of_partition.append(f"{uuid.uuid4().hex}-{NO_BASE}")

    @property
    def by_operator(self) -> StateIds:
        """The ids as a commit file has them."""
        return self._ids

    def of(self, spread: Spread) -> list[str]:
        """Return the id of each partition of an operator's stores of one name."""
        place = place_of(spread.name)
        return [ids[place] for ids in self._ids[spread.operator.operator_id]]

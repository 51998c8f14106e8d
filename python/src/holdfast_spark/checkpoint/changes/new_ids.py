"""Ids for stores that are written anew in checkpoint format 2; `lineage` tells what ids are."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from holdfast_spark.checkpoint.files.lineage import NO_BASE, place_of
from holdfast_spark.checkpoint.files.logs import StateIds


class NewIds:
    """An id for each store, which needs no version before its own.

    Args:
        stores: operator, partition and name of every store.
    """

    def __init__(self, stores: Iterable[tuple[int, int, str]]) -> None:
        chosen = sorted((operator, part, place_of(name)) for operator, part, name in stores)
        self._ids: dict[int, list[list[str]]] = {}
        for operator, partition, _ in chosen:
            partitions = self._ids.setdefault(operator, [])
            if partition == len(partitions):
                partitions.append([])
            partitions[partition].append(f"{uuid.uuid4().hex}-{NO_BASE}")

    @property
    def by_operator(self) -> StateIds:
        """The ids as a commit file has them."""
        return self._ids

    def of(self, operator_id: int, partition_id: int, name: str) -> str:
        """Return the id of a store."""
        return self._ids[operator_id][partition_id][place_of(name)]

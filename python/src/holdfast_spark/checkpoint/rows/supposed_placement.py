"""Which placement the rows of a store bear out, where nothing tells it for sure.

Spark before 4.0 wrote no metadata of operators. And before 3.3 it took rows that were spread by a
part of an operator's key as they were, which queries from then still do (the pinned setting
`spark.sql.streaming.statefulOperator.useStrictDistribution` is not `true`). So a placement is
supposed, and taken for the right one if the rows of nearly all files fit it, and are too many for
that to be chance.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from holdfast_spark.checkpoint.files.operators import Operator
from holdfast_spark.checkpoint.files.spark_types import StructType
from holdfast_spark.checkpoint.rows.partitioning import Placement, UnknownPlacementError

STRICT_DISTRIBUTION = "spark.sql.streaming.statefulOperator.useStrictDistribution"

# Of so many files and one, one may be in a wrong place.
_FEW = 3
# Chance would have to throw so many coins alike.
_BITS = 20
_KEYS_COUNTED = 64

FileId = TypeVar("FileId")


def placements(
    operator: Operator, *, store_name: str, key: StructType, conf: Mapping[str, object]
) -> tuple[tuple[Placement, ...], bool]:
    """Return the placements that may be right, the likeliest first, and whether the first one is.

    Args:
        operator: the operator.
        store_name: name of its stores.
        key: schema of their keys.
        conf: the settings that the query is bound to.
    """
    found = []
    with contextlib.suppress(UnknownPlacementError):
        found.append(Placement(operator, store_name=store_name, key=key))
        if conf.get(STRICT_DISTRIBUTION) == "true":
            return tuple(found), True
    columns = len(key.fields)
    # An operator's whole key, or what is left without the column that some add to it, or none.
    for count in (columns, columns - 1, 0):
        with contextlib.suppress(UnknownPlacementError):
            made = Placement.by_leading_columns(operator, key=key, count=count)
            if all(made.columns != other.columns for other in found):
                found.append(made)
    return tuple(found), False


@dataclass(slots=True)
class Support(Generic[FileId]):
    """How far the files of a store's partitions bear a placement out.

    Attributes:
        fitting: files with rows that all belong where they are.
        strangers: those with rows that belong elsewhere.
        keys: some of the keys that fit.
    """

    fitting: list[FileId] = field(default_factory=list)
    strangers: list[FileId] = field(default_factory=list)
    keys: set[bytes] = field(default_factory=set)

    def add(self, file: FileId, keys: list[bytes], *, fits: bool) -> None:
        """Count a file with rows."""
        (self.fitting if fits else self.strangers).append(file)
        if fits and len(self.keys) < _KEYS_COUNTED:
            self.keys.update(keys[:_KEYS_COUNTED])

    def is_enough(self, partitions: int) -> bool:
        """Tell whether the placement is the right one."""
        few = len(self.strangers) * _FEW <= len(self.fitting)
        return few and len(self.keys) * math.log2(max(partitions, 1)) >= _BITS

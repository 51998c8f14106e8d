"""Which partition Spark keeps a row of state in.

A stateful operator asks for rows that are spread by the hash of its key, and keeps them in the
partition where they arrive (`StatefulOpClusteredDistribution` and
`HashPartitioning.partitionIdExpression`, Spark 4.3). The key of the state begins with that of the
operator; what some operators add to it comes last (`StatePartitionKeyExtractorFactory`).

A key may say NaN where the rows have null (`nulls_as_nan`). Then the partition that it is in tells
which of the two it is, unless both belong there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.operators import UNKNOWN_OPERATOR, Operator
from holdfast_spark.checkpoint.files.spark_types import SparkType, StructType, describe
from holdfast_spark.checkpoint.rows.murmur import can_be_hashed, hash_rows, hashable
from holdfast_spark.checkpoint.rows.nulls_as_nan import readings
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder

_WHOLE_KEY = (
    *("stateStoreSave", "StatefulStreamlineAggregate", "dedupe", "dedupeWithinWatermark"),
    *("flatMapGroupsWithState", "applyInPandasWithState"),
)
_SESSIONS = "sessionWindowStateStoreSaveExec"  # the start of the session comes last
_JOIN = "symmetricHashJoin"
_WITH_INDEX = "-keyWithIndexToValue"  # the index of a row among those of its key comes last
_LIMIT = "globalLimit"  # a counter for all rows


class UnknownPlacementError(CheckpointError):
    """It cannot be told which partition the rows of a store belong in."""


class Placement:
    """Where the rows of an operator's stores of one name belong; for any thread.

    Args:
        operator: the operator.
        store_name: name of the stores.
        key: schema of their keys.

    Attributes:
        columns: the leading columns of the key that the partition depends on; none where all rows
            are in partition 0, as those of a limit or of an aggregation without keys.
        nulls_as_nan: whether a key that says NaN may be null's.

    Raises:
        UnknownPlacementError: the operator is not known, or not every Spark hashes its keys alike.
    """

    def __init__(self, operator: Operator, *, store_name: str, key: StructType) -> None:
        count = _leading_columns(operator, store_name, len(key.fields))
        self._set_columns(operator, key, count)

    @classmethod
    def by_leading_columns(cls, operator: Operator, *, key: StructType, count: int) -> Placement:
        """Return the placement by so many of the leading columns, whatever the operator is.

        Raises:
            UnknownPlacementError: not every Spark hashes these columns alike.
        """
        made = cls.__new__(cls)
        made._set_columns(operator, key, count)
        return made

    @classmethod
    def by_field(
        cls,
        operator: Operator,
        *,
        key: StructType,
        path: Sequence[str],
        nulls_as_nan: bool = False,
    ) -> Placement:
        """Return the placement by all columns of a struct in the key.

        Args:
            operator: the operator.
            key: schema of the keys.
            path: names that lead from the key to the struct; none for the key itself.
            nulls_as_nan: whether a key that says NaN may be null's.

        Raises:
            UnknownPlacementError: there is no such struct, or not every Spark hashes it alike.
        """
        inner: SparkType = key
        places = []
        for name in path:
            fields = inner.fields if isinstance(inner, StructType) else ()
            found = [place for place, field in enumerate(fields) if field.name == name]
            if not found:
                raise UnknownPlacementError(
                    f"Operator {operator.operator_id} ({operator.name}) has the key "
                    f"{describe(key)}, expected one with {'.'.join(path)}. Its rows cannot be "
                    "placed."
                )
            places.append(found[0])
            inner = fields[found[0]].type
        made = cls.__new__(cls)
        columns = inner if isinstance(inner, StructType) else StructType(())
        made._set_columns(operator, columns, len(columns.fields))
        made._key, made._path = hashable(key), tuple(places)
        made.nulls_as_nan = nulls_as_nan
        return made

    def _set_columns(self, operator: Operator, key: StructType, count: int) -> None:
        self._key = hashable(key)
        self._path: tuple[int, ...] = ()
        self.nulls_as_nan = False
        self.columns = StructType(key.fields[:count])
        for field in self.columns.fields:
            if not can_be_hashed(field.type):
                raise UnknownPlacementError(
                    f"Operator {operator.operator_id} ({operator.name}) has the key column "
                    f"{field.name} of the type {describe(field.type)}, whose hash is not the same "
                    "in every Spark: expected columns without maps, variants and calendar "
                    "intervals. Its rows cannot be placed."
                )

    @property
    def is_single(self) -> bool:
        """Whether there is but one partition, however many the query has."""
        return not self.columns.fields

    def partitions(self, records: Records, partitions: int, *, where: str) -> npt.NDArray[np.int32]:
        """Return the partition of each row.

        Args:
            records: the rows.
            partitions: number of partitions that there are to be.
            where: what errors call the rows, such as a file's name.

        Raises:
            DamagedRowError: a key does not fit its schema.
        """
        if self.is_single:
            return np.zeros(len(records), np.int32)
        keys = self._keys(records, where=where)
        placed: npt.NDArray[np.int32] = np.mod(hash_rows(keys, self.columns), np.int32(partitions))
        return placed

    def partitions_from(
        self, records: Records, partitions: int, *, here: int, of: int, where: str
    ) -> tuple[npt.NDArray[np.int32], int]:
        """Return the partition of each row of a store, by what its key is there.

        Args:
            records: the rows.
            partitions: number of partitions that there are to be.
            here: partition of the store that they are in.
            of: number of partitions that there are.
            where: what errors call the rows, such as a file's name.

        Returns:
            The partitions, and the number of rows of which it cannot be told: their keys belong in
            this store as what they say and as null, and in different ones of those to be.

        Raises:
            DamagedRowError: a key does not fit its schema.
        """
        if self.is_single or not self.nulls_as_nan:
            return self.partitions(records, partitions, where=where), 0
        keys = self._keys(records, where=where)
        hashes = np.stack([hash_rows(each, self.columns) for each in readings(keys, self.columns)])
        fitting = np.mod(hashes, np.int32(of)) == here
        targets = np.mod(hashes, np.int32(partitions))
        placed: npt.NDArray[np.int32] = np.take_along_axis(
            targets, fitting.argmax(axis=0)[np.newaxis], axis=0
        )[0]
        return placed, int((fitting & (targets != placed)).any(axis=0).sum())

    def _keys(self, records: Records, *, where: str) -> pa.StructArray:
        decoder = RowDecoder(records.memory, where=where)
        keys = decoder.rows(self._key, records.key_starts, records.key_lengths)
        for place in self._path:
            keys = keys.field(place)
        return keys


def _leading_columns(operator: Operator, store_name: str, columns: int) -> int:
    if operator.name == _LIMIT:
        return 0
    if operator.name == _SESSIONS or (operator.name == _JOIN and store_name.endswith(_WITH_INDEX)):
        return columns - 1
    if operator.name in _WHOLE_KEY or operator.name == _JOIN:
        return columns
    if operator.name == UNKNOWN_OPERATOR:
        raise UnknownPlacementError(
            f"Operator {operator.operator_id} has no metadata, which tells how its rows are "
            "placed: let Spark 4.0 or later, which writes it, run a batch of the query, and stop "
            "it."
        )
    known = ", ".join((*_WHOLE_KEY, _SESSIONS, _JOIN, _LIMIT))
    raise UnknownPlacementError(
        f"Operator {operator.operator_id} is {operator.name}, and this version of Holdfast knows "
        f"how the rows of {known} are placed."
    )

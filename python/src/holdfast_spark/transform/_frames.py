"""Frames of pandas in and out of handlers of `transformWithStateInPandas`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.errors import PySparkException, PySparkValueError
from pyspark.sql.conversion import ArrowBatchTransformer, PandasToArrowConversion
from pyspark.sql.types import (
    BooleanType,
    DateType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast_spark.transform._frame_sizes import FrameSizes
    from holdfast_spark.transform._groups import Group, Row


# To these a column of objects is converted value by value. With others it may depend on the whole
# column, as that of decimals that become doubles; or its handler may change a value later.
_EACH_ALONE = (BooleanType, DateType, StringType, TimestampNTZType, TimestampType)

# A frame of pandas before 3 shares its values with those that it was made of.
_COPIES_VALUES = int(pd.__version__.partition(".")[0]) < 3  # noqa: PLR2004 - of which this speaks


@dataclass(frozen=True)
class Conversion:
    """How values go between Arrow and pandas, as the session has it."""

    timezone: str
    prefer_int_ext_dtype: bool
    safecheck: bool
    assign_cols_by_name: bool
    int_to_decimal_coercion_enabled: bool


class FrameForm:
    """Gives handlers frames.

    Spark makes a frame of each group's rows; here the groups of a batch are parts of one frame,
    which takes a tenth of the time. The frame of a group with a null is made of its rows all the
    same: pandas chooses the type of a column by its nulls. So is each frame of a batch in which the
    type of a column is another one than it would be without its nulls.

    Args:
        key_offsets: which columns are the grouping key.
        value_offsets: which ones handlers get.
        conversion: how values become those of pandas.
        sizes: of frames.
    """

    def __init__(
        self,
        key_offsets: Sequence[int],
        value_offsets: Sequence[int],
        conversion: Conversion,
        sizes: FrameSizes,
    ) -> None:
        self._sizes = sizes
        self._full = 0
        self._key_offsets = key_offsets
        self._value_offsets = list(value_offsets)
        self._conversion = conversion
        self._rows: list[Row] = []
        self._frame = pd.DataFrame()
        self._apart: Any = None

    def take(self, batch: pa.RecordBatch) -> tuple[Sequence[Row], Sequence[Row]]:
        """Make a batch the current one; return its rows and their keys."""
        columns = ArrowBatchTransformer.to_pandas(
            batch,
            timezone=self._conversion.timezone,
            prefer_int_ext_dtype=self._conversion.prefer_int_ext_dtype,
        )
        self._full = self._sizes.with_batch(batch)
        self._rows = list(pd.concat(columns, axis=1).itertuples(index=False))
        whole = pd.DataFrame(self._rows)
        self._apart = _apart(whole)
        self._frame = whole.iloc[:, self._value_offsets]
        return self._rows, [tuple([row[o] for o in self._key_offsets]) for row in self._rows]

    def give(self, start: int, end: int) -> Iterator[Any]:
        """Return rows of the current batch, as one frame."""
        return self._given(start, end, self._full)

    def join(self, group: Group, more: Iterator[Sequence[Row]]) -> Iterator[pd.DataFrame]:
        """Return the frame of a group with what there is more of its key, in several if large."""
        return self._joined(group.given, group.values, more, self._full)

    def _joined(
        self,
        given: Iterator[pd.DataFrame],
        values: Sequence[Row],
        more: Iterator[Sequence[Row]],
        full: int,
    ) -> Iterator[pd.DataFrame]:
        second = next(more, None)
        if second is None:
            yield from given
            return
        parts = [(values, full), (second, self._full)]
        rows: list[Row] = []
        for part, length in itertools.chain(parts, ((part, self._full) for part in more)):
            at = 0
            while at < len(part):
                end = at + max(1, length - len(rows))
                rows += part[at:end]
                at = end
                if len(rows) >= length:
                    yield self._made_of(rows)
                    rows = []
        if rows:
            yield self._made_of(rows)

    def _made_of(self, rows: Sequence[Row]) -> pd.DataFrame:
        return pd.DataFrame(rows).iloc[:, self._value_offsets]

    def _given(self, start: int, end: int, full: int) -> Iterator[pd.DataFrame]:
        # Those of its batch: the next one may be the current one before all is given.
        frame, rows, apart = self._frame, self._rows, self._apart
        return (
            self._cut(at, min(at + full, end), frame, rows, apart) for at in range(start, end, full)
        )

    def _cut(
        self, start: int, end: int, frame: pd.DataFrame, rows: list[Row], apart: Any
    ) -> pd.DataFrame:
        if apart is not None:
            first, last = np.searchsorted(apart, (start, end))
            if first != last:
                return self._made_of(rows[start:end])
        part = frame.iloc[start:end]
        part.index = pd.RangeIndex(end - start)
        return part


def _apart(whole: pd.DataFrame) -> Any:
    """Return which rows have no frame that is part of one of all rows, None if all have."""
    nulls = whole.isna().to_numpy()
    if not nulls.any():
        return None
    for at in np.flatnonzero(nulls.any(axis=0)):
        column = whole.iloc[:, at]
        if column.dtype == object and column.dropna().infer_objects().dtype != object:
            return np.arange(len(whole))
    return np.flatnonzero(nulls.any(axis=1))


class FrameOutput:
    """Makes batches of the frames that handlers return, as they are when they are returned.

    Frames with the same columns of the same types go together, where that changes no value. Where
    they cannot be converted together each goes alone: Spark converts text to numbers, but no
    mixture.

    Args:
        return_type: their schema.
        conversion: how values become those of Arrow.
        most_rows: of a batch, but for a larger frame.
        most_bytes: the same of its bytes.
    """

    def __init__(
        self, return_type: Any, conversion: Conversion, most_rows: int, most_bytes: int
    ) -> None:
        self._return_type = return_type
        self._schema = StructType([StructField("_0", return_type)])
        self._conversion = conversion
        self._most_rows = most_rows
        self._most_bytes = most_bytes
        self._frames: list[pd.DataFrame] = []
        self._types: list[Any] = []
        self._length = 0
        self._bytes = 0

    def add(self, results: Iterator[Any]) -> Iterator[pa.RecordBatch]:
        """Take what a handler returned; yield the batches that are full."""
        for frame in results:
            if isinstance(self._return_type, StructType) and not isinstance(frame, pd.DataFrame):
                raise PySparkValueError(
                    "Invalid return type. Please make sure that the UDF returns a "
                    "pandas.DataFrame when the specified return type is StructType."
                )
            types = list(frame.dtypes.array)
            size = _bytes_of(frame, types)
            if self._frames and (
                self._length + len(frame) > self._most_rows
                or self._bytes + size > self._most_bytes
                or types != self._types
                or not self._frames[0].columns.equals(frame.columns)
            ):
                yield from self.rest()
            if not self._frames and not self._may_join(frame, types):
                yield self._converted(frame)
                continue
            self._frames.append(frame.copy(deep=_COPIES_VALUES))
            self._types = types
            self._length += len(frame)
            self._bytes += size

    def _may_join(self, frame: pd.DataFrame, types: list[Any]) -> bool:
        """Tell whether a frame may be converted together with others of its columns and types."""
        if any(isinstance(kind, pd.ArrowDtype) for kind in types):
            return False
        objects = [at for at, kind in enumerate(types) if _is_object(kind)]
        return all(isinstance(self._type_of(frame, at), _EACH_ALONE) for at in objects)

    def _type_of(self, frame: pd.DataFrame, at: int) -> Any:
        """Return the type that a column of a frame is converted to, None where there is none."""
        fields = self._return_type.fields if isinstance(self._return_type, StructType) else []
        names = list(frame.columns)
        if self._conversion.assign_cols_by_name and any(isinstance(name, str) for name in names):
            return next((field.dataType for field in fields if field.name == names[at]), None)
        return fields[at].dataType if at < len(fields) else None

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield a batch of what is left, if anything is."""
        if not self._frames:
            return
        frames = self._frames
        self._frames, self._length, self._bytes = [], 0, 0
        if len(frames) > 1:
            try:
                together = self._converted(_together(frames))
            except (PySparkException, pa.ArrowException, TypeError, ValueError):
                pass  # what is wrong with which of them is told below
            else:
                yield together
                return
        for frame in frames:
            yield self._converted(frame)

    def _converted(self, frame: pd.DataFrame) -> pa.RecordBatch:
        return PandasToArrowConversion.convert(
            [frame],
            self._schema,
            timezone=self._conversion.timezone,
            safecheck=self._conversion.safecheck,
            arrow_cast=True,
            assign_cols_by_name=self._conversion.assign_cols_by_name,
            int_to_decimal_coercion_enabled=self._conversion.int_to_decimal_coercion_enabled,
        )


def _is_object(kind: Any) -> bool:
    """Tell whether a column of a type has objects."""
    return isinstance(kind, np.dtype) and kind.hasobject


def _bytes_of(frame: pd.DataFrame, types: list[Any]) -> int:
    """Return about how many bytes a frame takes."""
    size = 8 * len(frame) * len(types)
    for at, kind in enumerate(types):
        if _is_object(kind):
            size += sum(len(v) for v in frame.iloc[:, at] if isinstance(v, (str, bytes)))
        elif isinstance(kind, pd.StringDtype):
            size += frame.iloc[:, at].array.nbytes
    return size


def _together(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return frames of the same columns and types as one that Spark can convert.

    It takes no column in several chunks, as pandas makes one of the strings of several frames.
    """
    whole = pd.concat(frames, ignore_index=True)
    strings = [at for at, kind in enumerate(whole.dtypes.array) if isinstance(kind, pd.StringDtype)]
    for at in strings:
        whole.isetitem(at, whole.iloc[:, at].astype(object))
    return whole

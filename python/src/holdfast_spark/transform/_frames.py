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

from holdfast_spark.transform._joined import Content, Joined, content_of, has_objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast_spark.transform._frame_sizes import FrameSizes
    from holdfast_spark.transform._groups import Group, Row


# To these a column of objects is converted value by value. With others it may depend on the whole
# column, as that of decimals that become doubles; or its handler may change a value later.
_EACH_ALONE = (BooleanType, DateType, StringType, TimestampNTZType, TimestampType)


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
    """Return which rows have no frame that is part of one of all rows, None if all have.

    Spark makes a group's frame of its rows alone, whose values are those of the batch in pandas:
    integers beside a null are doubles in them already. What pandas chooses anew for each frame is
    the type of a column, by the values and nulls that the rows of that frame have:

    - A group with a null may get another type than all rows together, as where it has nothing
      else in a column. Its rows are apart.
    - Values of one type beside nulls, as booleans, or integers of `prefer_int_ext_dtype`, are
      objects in a frame of all rows, and of that type in one without a null. All rows are apart.
    """
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
        self._joined: Joined | None = None
        self._maybe_in_one_array = True

    def add(self, results: Iterator[Any]) -> Iterator[pa.RecordBatch]:
        """Take what a handler returned; yield the batches that are full."""
        for frame in results:
            if isinstance(self._return_type, StructType) and not isinstance(frame, pd.DataFrame):
                raise PySparkValueError(
                    "Invalid return type. Please make sure that the UDF returns a "
                    "pandas.DataFrame when the specified return type is StructType."
                )
            content = content_of(frame, maybe_in_one_array=self._maybe_in_one_array)
            self._maybe_in_one_array = content.in_one_array
            size = content.size
            if not self._fits(content, size):
                yield from self.rest()
            if self._joined is None:
                if not self._may_join(content):
                    yield self._converted(frame)
                    continue
                self._joined = Joined(frame.columns, content.types)
            self._joined.add(content, size)

    def _fits(self, content: Content, size: int) -> bool:
        """Tell whether a frame goes into a batch with those that are here, if any are."""
        joined, frame = self._joined, content.frame
        return joined is None or (
            joined.rows + len(frame) <= self._most_rows
            and joined.size + size <= self._most_bytes
            and content.types == joined.types
            and (frame.columns is joined.columns or joined.columns.equals(frame.columns))
        )

    def _may_join(self, content: Content) -> bool:
        """Tell whether a frame may be converted together with others of its columns and types."""
        if any(isinstance(kind, pd.ArrowDtype) for kind in content.types):
            return False
        objects = [at for at, kind in enumerate(content.types) if has_objects(kind)]
        return all(isinstance(self._type_of(content.frame, at), _EACH_ALONE) for at in objects)

    def _type_of(self, frame: pd.DataFrame, at: int) -> Any:
        """Return the type that a column of a frame is converted to, None where there is none."""
        fields = self._return_type.fields if isinstance(self._return_type, StructType) else []
        names = list(frame.columns)
        if self._conversion.assign_cols_by_name and any(isinstance(name, str) for name in names):
            return next((field.dataType for field in fields if field.name == names[at]), None)
        return fields[at].dataType if at < len(fields) else None

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield a batch of what is left, if anything is."""
        self._maybe_in_one_array = True
        joined, self._joined = self._joined, None
        if joined is None:
            return
        if len(joined) > 1:
            try:
                together = self._converted(joined.whole())
            except (PySparkException, pa.ArrowException, TypeError, ValueError):
                pass  # what is wrong with which of them is told below
            else:
                yield together
                return
        for frame in joined.each():
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

"""Small frames of pandas as one large one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A frame takes kilobytes and dozens of objects, so thousands are slow to have; to put a few
# together takes longer for each of them.
_AT_ONCE = 64
# From so many rows on a frame is faster to copy than to take apart.
_LARGE = 256
# Of these numpy has no other type for a column than pandas has.
_NUMBERS = frozenset("biuf")


@dataclass(frozen=True, slots=True)
class Content:
    """What there is in a frame.

    Attributes:
        frame: the frame.
        types: of its columns.
        arrays: its values, in one array for all columns or one for each, text as objects. They may
            be part of the frame. None where they would not tell all, or the frame is large.
    """

    frame: pd.DataFrame
    types: list[Any]
    arrays: Sequence[Any] | None

    @property
    def size(self) -> int:
        """Return about how many bytes it takes."""
        size = 8 * len(self.frame) * len(self.types)
        for at, kind in enumerate(self.types):
            is_text = isinstance(kind, pd.StringDtype)
            if is_text and self.arrays is None:
                size += self.frame.iloc[:, at].array.nbytes
            elif is_text or has_objects(kind):
                values = self.frame.iloc[:, at] if self.arrays is None else self.arrays[at]
                size += sum([len(value) for value in values if isinstance(value, (str, bytes))])
        return size

    @property
    def in_one_array(self) -> bool:
        """Tell whether one array has all columns."""
        return self.arrays is not None and len(self.arrays) < len(self.types)


def has_objects(kind: Any) -> bool:
    """Tell whether a column of a type has objects."""
    return isinstance(kind, np.dtype) and kind.hasobject


def content_of(frame: pd.DataFrame, *, maybe_in_one_array: bool) -> Content:
    """Return what there is in a frame, in the fastest way that is known.

    Args:
        frame: the frame.
        maybe_in_one_array: whether to look if it has all its values in one array, which takes as
            long as all else where it has not.
    """
    if maybe_in_one_array and (values := _in_one_array(frame)) is not None:
        return Content(frame, [values.dtype] * values.shape[1], (values,))
    if len(frame) > _LARGE:
        return Content(frame, list(frame.dtypes.array), None)
    columns = [column for _, column in frame.items()]
    types = [column.dtype for column in columns]
    if not types or not all(map(_is_plain, types)):
        return Content(frame, types, None)
    return Content(frame, types, [_array_of(column) for column in columns])


def _in_one_array(frame: Any) -> Any:
    """Return the values of a frame whose columns are all of one numeric type, in one array.

    None where they are not, or not known to be. Nothing else tells it as fast: an array of values
    is part of the frame, and so of the same one each time, only where the frame has them in one
    itself. Where pandas keeps its columns apart it makes a new one, of a type that fits them all.
    """
    if type(frame) is not pd.DataFrame:
        return None
    values = frame.to_numpy()
    kind = values.dtype
    # One column may be of a type that numpy does not know.
    if values.shape[1] <= 1 or kind.kind not in _NUMBERS or not kind.isnative:
        return None
    part_of = values.base
    return values if part_of is not None and frame.to_numpy().base is part_of else None


def _is_plain(kind: Any) -> bool:
    return isinstance(kind, pd.StringDtype) or (isinstance(kind, np.dtype) and kind.isnative)


def _array_of(column: pd.Series) -> Any:
    as_objects = isinstance(column.dtype, pd.StringDtype)
    return column.to_numpy(dtype=object) if as_objects else column.to_numpy()


class Joined:
    """Frames of the same columns and types, as each was when it was added.

    Attributes:
        columns: their names.
        types: of their columns.
        rows: how many they have.
        size: about how many bytes they take.
    """

    def __init__(self, columns: pd.Index, types: list[Any]) -> None:
        self.columns = columns
        self.types = types
        self.rows = 0
        self.size = 0
        self._count = 0
        self._arrays: list[list[Any]] = []
        self._frames: list[pd.DataFrame] = []
        # What has been put together, with how many rows each frame had.
        self._parts: list[tuple[pd.DataFrame, list[int]]] = []
        self._texts = [at for at, kind in enumerate(types) if isinstance(kind, pd.StringDtype)]

    def __len__(self) -> int:
        return self._count

    def add(self, content: Content, size: int) -> None:
        """Take a frame as it is now."""
        arrays = content.arrays
        if arrays is None:
            if self._arrays:
                self._put_together()
            kept = content.frame.copy()
            kept.columns = self.columns  # which takes less time than to compare them once more
            self._frames.append(kept)
            if len(self._frames) == _AT_ONCE:
                self._put_together()
        else:
            if self._frames or (self._arrays and len(self._arrays[0]) != len(arrays)):
                self._put_together()
            self._arrays.append([array.copy() for array in arrays])
        self._count += 1
        self.rows += len(content.frame)
        self.size += size

    def whole(self) -> pd.DataFrame:
        """Return all as one frame that Spark can convert.

        It takes no column of text in several chunks, as pandas makes one of several frames.
        """
        self._put_together()
        parts = [part for part, _ in self._parts]
        whole = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
        return self._with_texts(whole, object)

    def each(self) -> Iterator[pd.DataFrame]:
        """Yield them one by one."""
        self._put_together()
        for part, rows in self._parts:
            at = 0
            for count in rows:
                yield self._with_texts(part.iloc[at : at + count], None)
                at += count

    def _with_texts(self, frame: pd.DataFrame, kind: Any) -> pd.DataFrame:
        """Return a frame with its columns of text of a type, None for the one that they had."""
        for at in self._texts:
            text = frame.iloc[:, at]
            if text.dtype != (wanted := kind or self.types[at]):
                frame = frame.copy(deep=False)
                frame.isetitem(at, text.astype(wanted))
        return frame

    def _put_together(self) -> None:
        if self._arrays:
            arrays, self._arrays = self._arrays, []
            self._parts.append((self._of_arrays(arrays), [len(each[0]) for each in arrays]))
        if self._frames:
            frames, self._frames = self._frames, []
            try:
                part = pd.concat(frames, ignore_index=True)
            except (TypeError, ValueError):  # of what else users put into frames
                self._parts += [(frame, [len(frame)]) for frame in frames]
            else:
                self._parts.append((part, [*map(len, frames)]))

    def _of_arrays(self, arrays: list[list[Any]]) -> pd.DataFrame:
        columns = [np.concatenate(of_column) for of_column in zip(*arrays, strict=True)]
        if len(columns) < len(self.types):
            return pd.DataFrame(columns[0], columns=self.columns)
        # Of objects pandas would find out a type.
        made = pd.DataFrame(
            {at: pd.Series(values, dtype=values.dtype) for at, values in enumerate(columns)}
        )
        made.columns = self.columns
        return made

"""Small frames of pandas as one large one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

# A frame takes kilobytes and dozens of objects, so thousands are slow to have; to put a few
# together takes longer for each of them.
_AT_ONCE = 64
# Of these numpy has no other type for a column than pandas has.
_NUMBERS = frozenset("biuf")


def values_of(frame: Any) -> Any:
    """Return the values of a frame whose columns are all of one numeric type, in one array.

    None where they are not, or not known to be. Nothing else tells it as fast: an array of values
    is part of the frame, and so the same one each time, only where the frame has them in one array
    itself. Where pandas keeps its columns apart it makes a new one, of a type that fits them all.
    """
    if type(frame) is not pd.DataFrame:
        return None
    values = frame.to_numpy()
    if values.shape[1] < 2 or values.dtype.kind not in _NUMBERS:  # noqa: PLR2004 - one may be of any type
        return None
    part_of = values.base
    return values if part_of is not None and frame.to_numpy().base is part_of else None


class Joined:
    """Frames of the same columns and types.

    Attributes:
        columns: their names.
        types: of their columns.
        rows: how many they have.
        size: about how many bytes they take, as it was said of each.
    """

    def __init__(self, columns: pd.Index, types: list[Any]) -> None:
        self.columns = columns
        self.types = types
        self.rows = 0
        self.size = 0
        self._values: list[Any] = []
        self._frames: list[pd.DataFrame] = []
        # What has been put together, with how many rows each frame had.
        self._parts: list[tuple[pd.DataFrame, list[int]]] = []

    def __len__(self) -> int:
        return sum(len(rows) for _, rows in self._parts) + len(self._values) + len(self._frames)

    def add(self, frame: pd.DataFrame, size: int) -> None:
        """Take a frame as it is now."""
        if self._values:
            self._put_together()
        kept = frame.copy()
        kept.columns = self.columns  # which takes less time than to compare them once more
        self._frames.append(kept)
        self.rows += len(frame)
        self.size += size
        if len(self._frames) == _AT_ONCE:
            self._put_together()

    def add_values(self, values: Any, size: int) -> None:
        """Take what `values_of` returned for a frame, as it is now."""
        if self._frames:
            self._put_together()
        self._values.append(values.copy())
        self.rows += len(values)
        self.size += size

    def whole(self) -> pd.DataFrame:
        """Return all as one frame that Spark can convert.

        It takes no column in several chunks, as pandas makes one of the strings of several frames.
        """
        self._put_together()
        if len(self) == 1:
            return self._parts[0][0]
        whole = pd.concat([part for part, _ in self._parts], ignore_index=True)
        for at, kind in enumerate(self.types):
            if isinstance(kind, pd.StringDtype):
                whole.isetitem(at, whole.iloc[:, at].astype(object))
        return whole

    def each(self) -> Iterator[pd.DataFrame]:
        """Yield them one by one."""
        self._put_together()
        for part, rows in self._parts:
            at = 0
            for count in rows:
                yield part.iloc[at : at + count]
                at += count

    def _put_together(self) -> None:
        if self._values:
            values, self._values = self._values, []
            part = pd.DataFrame(np.concatenate(values), columns=self.columns)
            self._parts.append((part, [*map(len, values)]))
        if self._frames:
            frames, self._frames = self._frames, []
            try:
                part = pd.concat(frames, ignore_index=True)
            except (TypeError, ValueError):  # of what else users put into frames
                self._parts += [(frame, [len(frame)]) for frame in frames]
            else:
                self._parts.append((part, [*map(len, frames)]))

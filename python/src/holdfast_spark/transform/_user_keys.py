"""Which keys of map states a handler will ask for, from the rows that it gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast_spark.transform._client import Read
    from holdfast_spark.transform._states import PipelinedMapState

# Of the user's keys that a handler asks for, and of its rows.
ASKED_LOOKED_AT = 4
_ROWS_LOOKED_AT = 32
_SHOWN_OFTEN_ENOUGH = 4
_SCALARS = (bool, int, float, str, bytes)


class UserKeys:
    """Sees that the parts of the user's keys that handlers ask for are columns of their rows.

    A map is left alone as soon as a key was asked for that no row of its group has.
    """

    def __init__(self) -> None:
        self._maps: dict[PipelinedMapState, _Columns] = {}

    def learn(
        self,
        asked: Sequence[tuple[PipelinedMapState, tuple[Any, ...]]],
        rows: Sequence[tuple[Any, ...]],
    ) -> None:
        """Take note of the user's keys that a handler asked for, and of the rows that it got."""
        for state, user_key in asked[:ASKED_LOOKED_AT]:
            columns = self._maps.get(state)
            if columns is None:
                columns = self._maps[state] = _Columns(len(user_key))
            columns.learn(user_key, rows[:_ROWS_LOOKED_AT])

    def of(self, rows: Sequence[tuple[Any, ...]]) -> list[Read]:
        """Return the reads that the handler of a group with these rows is likely to ask for."""
        if not self._maps:
            return []
        reads = [
            state.read_of(user_key)
            for state, columns in self._maps.items()
            if columns.are_known
            for user_key in dict.fromkeys(map(columns.user_key, rows[:_ROWS_LOOKED_AT]))
        ]
        return [read for read in reads if read is not None]

    def covers(self, read: Read) -> bool:
        """Tell whether a read of a user's key will be derived from rows."""
        return any(
            columns.are_known and state.is_about(read) for state, columns in self._maps.items()
        )


class _Columns:
    """For each part of a user's key, the columns that had its value each time."""

    def __init__(self, parts: int) -> None:
        self._candidates: list[set[int] | None] = [None] * parts
        self._chosen: list[int] = []
        self._shown = 0

    def learn(self, user_key: tuple[Any, ...], rows: Sequence[tuple[Any, ...]]) -> None:
        if len(user_key) != len(self._candidates):
            self._candidates = [set()]
        for at, known in enumerate(self._candidates):
            if known is not None and not known:
                continue
            part = user_key[at]
            found = {
                column
                for row in rows
                for column, value in enumerate(row)
                if isinstance(value, _SCALARS) and isinstance(part, _SCALARS) and value == part
            }
            self._candidates[at] = found if known is None else known & found
        self._shown += 1
        self._chosen = [min(known) for known in self._candidates if known]

    @property
    def are_known(self) -> bool:
        return (
            self._shown >= _SHOWN_OFTEN_ENOUGH
            and len(self._chosen) == len(self._candidates)
            and bool(self._chosen)
        )

    def user_key(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([row[column] for column in self._chosen])

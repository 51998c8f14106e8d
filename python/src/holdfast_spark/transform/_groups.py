"""The rows of a task as the groups that handlers get, made of whole Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]


@dataclass(slots=True)
class Group:
    """The rows of one key in a batch, of the last key with those of batches after it.

    Attributes:
        key: the grouping key.
        values: the rows of the batch that is here, as tuples.
        given: what the handler gets of them.
    """

    key: Row
    values: Sequence[Row]
    given: Iterator[Any]


class Form(Protocol):
    """What a batch is for handlers: rows, or frames of pandas."""

    def take(self, batch: pa.RecordBatch) -> tuple[Sequence[Row], Sequence[Row]]:
        """Make a batch the current one; return its rows and their keys."""

    def give(self, start: int, end: int) -> Iterator[Any]:
        """Return rows of the current batch as a handler gets them."""

    def join(self, group: Group, more: Iterator[Sequence[Row]]) -> Iterator[Any]:
        """Return what a handler gets of a group whose key may go on in later batches."""


class Groups:
    """Cuts batches, in which the rows of a key follow each other, into groups.

    A key may go on in the next batch. The handler of a batch's last key gets these rows as it goes
    on, so that no key need fit into memory, and what it leaves is passed over.

    Args:
        batches: the batches of a task.
        form: what handlers get.
    """

    def __init__(self, batches: Iterator[pa.RecordBatch], form: Form) -> None:
        self._batches = batches
        self._form = form
        self._rows: Sequence[Row] = ()
        self._keys: Sequence[Row] = ()
        self._at = 0

    def __iter__(self) -> Iterator[list[Group]]:
        """Yield the groups of each batch. All of them must be done with before the next."""
        while self._at < len(self._rows) or self._next_batch():
            groups = [self._group(start, end) for start, end in self._bounds()]
            last = groups[-1]
            self._at = len(self._rows)
            last.given = rest = self._form.join(last, self._going_on(last.key))
            yield groups
            for _ in rest:
                pass

    def _bounds(self) -> Iterator[tuple[int, int]]:
        keys, start = self._keys, self._at
        for at in range(start + 1, len(keys)):
            if keys[start] != keys[at]:
                yield start, at
                start = at
        yield start, len(keys)

    def _group(self, start: int, end: int) -> Group:
        return Group(self._keys[start], self._rows[start:end], self._form.give(start, end))

    def _going_on(self, key: Row) -> Iterator[Sequence[Row]]:
        """Yield the rows that a key has in the batches after this one."""
        while self._at == len(self._rows) and self._next_batch():
            keys = self._keys
            end = next((at for at, other in enumerate(keys) if key != other), len(keys))
            self._at = end
            if end:
                yield self._rows[:end]

    def _next_batch(self) -> bool:
        for batch in self._batches:
            if batch.num_rows:
                self._rows, self._keys = self._form.take(batch)
                self._at = 0
                return True
        return False

"""What a store holds and what a batch does to it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLoad:
    """What a store, or one partition of it, holds and what a batch does to it.

    Attributes:
        name: name of the store.
        rows: rows in it.
        key_bytes: bytes of a key.
        value_bytes: bytes of a value.
        changes: rows that a batch puts.
        overwritten: those of them that take the place of another one.
        removed: rows that a batch removes, the oldest ones.
        prefixes: keys of the operator that rows are found by, where it scans for them; 0 where it
            does not.
        order_words: words of eight bytes that such a row is found by: 1 for a hash of the key of
            the operator, more where rows lie in the order of a time.
    """

    name: str
    rows: float
    key_bytes: float
    value_bytes: float
    changes: float
    overwritten: float
    removed: float = 0
    prefixes: float = 0
    order_words: float = 1

    def times(self, factor: float, *, changes: float) -> StoreLoad:
        """Return a store that is so many times as large.

        Args:
            factor: of its rows.
            changes: the factor of what a batch does to it.
        """
        return replace(
            self,
            rows=self.rows * factor,
            changes=self.changes * changes,
            overwritten=self.overwritten * changes,
            removed=self.removed * changes,
            prefixes=self.prefixes * factor,
        )

    def partition(self, partitions: int) -> StoreLoad:
        """Return one of so many equal partitions."""
        return self.times(1 / partitions, changes=1 / partitions)

    @property
    def row_bytes(self) -> float:
        """Bytes of key and value."""
        return self.key_bytes + self.value_bytes

    @property
    def replaced(self) -> float:
        """Rows that a version has and the next one has not: of several changes of a row one."""
        return min(self.overwritten, self.rows)

    @property
    def added(self) -> float:
        """Rows that a batch puts where none was."""
        return self.changes - self.overwritten

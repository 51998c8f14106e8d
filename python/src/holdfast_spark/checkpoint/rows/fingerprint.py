"""Whether two sets of rows are the same, whatever their order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast_spark.checkpoint.rows.records import Records

_BITS = 128
_SALT_BYTES = hashlib.blake2b.SALT_SIZE


@dataclass(slots=True)
class Fingerprint:
    """What rows add up to: the same for the same rows in any order, and for no others.

    Attributes:
        rows: number of rows.
        total: sum of their hashes, modulo 2^128.
    """

    rows: int = 0
    total: int = 0

    def watch(self, pieces: Iterable[Records]) -> Iterator[Records]:
        """Yield the same rows, and add them."""
        for records in pieces:
            self.add(records)
            yield records

    def without(self, others: Fingerprint) -> Fingerprint:
        """Return what is left without rows that are among them."""
        return Fingerprint(
            rows=self.rows - others.rows, total=(self.total - others.total) % (1 << _BITS)
        )

    def add(self, records: Records, *, of: str = "") -> None:
        """Add rows.

        Args:
            records: the rows.
            of: what else tells them from others, such as the name of their column family.
        """
        total = self.total
        salt = hashlib.blake2b(of.encode(), digest_size=_SALT_BYTES).digest() if of else b""
        for key, value in zip(records.key_bytes(), records.value_bytes(), strict=True):
            hashed = hashlib.blake2b(
                key, digest_size=_BITS // 8, person=b"%d" % len(key), salt=salt
            )
            hashed.update(value)
            total += int.from_bytes(hashed.digest(), "big")
        self.rows += len(records)
        self.total = total % (1 << _BITS)

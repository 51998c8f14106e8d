"""The column families of a store, as the content of its files begins with them.

    families   | int32 removed | int32 id | ... | int32 defined | family | ...
    family     | int32 id | flags | string name | string key encoder | string key schema |
               | string value schema |

A snapshot defines all families, a delta what it changes about them (`jvm/FORMAT.md`). The text is
Spark's: JSON of a `KeyStateEncoderSpec` and of schemas. Family `i` has its rows in the table
`2 * i`; what does not fit there of lists of values is in the table behind it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from holdfast_spark._text import cause_text
from holdfast_spark.checkpoint.errors import DamagedStateFileError, MalformedFileError
from holdfast_spark.checkpoint.files.json_values import parsed_json
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.spark_types import parse_struct
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.scan import RATIO, RECORD_BYTES

DEFAULT_ID = 0
LARGEST_ID = (1 << 16) - 1
INTERNAL, MANY_VALUES = 1, 2
TABLES_OF_EACH = 2
_LONGEST_TEXT = 1 << 24
_INT = struct.Struct(">i")
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A column family of a store.

    Attributes:
        family_id: number of the family in its store; 0 of the one named `default`.
        name: its name.
        is_internal: whether it is the operator's own, such as an index of times to live.
        has_many_values: whether a key has a list of values.
        encoder_json: how its keys can be scanned, Spark's JSON of a `KeyStateEncoderSpec`.
        key_json: schema of the keys, Spark's JSON.
        value_json: schema of the values, Spark's JSON.
    """

    family_id: int
    name: str
    is_internal: bool
    has_many_values: bool
    encoder_json: str
    key_json: str
    value_json: str

    def schema(self, *, path: str) -> ColumnFamily:
        """Return the schema of its rows.

        Args:
            path: the file that it stands in, for errors.

        Raises:
            MalformedFileError: one of the schemas is none.
            UnknownFormatError: there is an unknown type in it.
        """
        encoder = self.encoder(path=path).get("keyStateEncoderType")
        return ColumnFamily(
            name=self.name,
            key=parse_struct(self._json(self.key_json, path), path=path),
            value=parse_struct(self._json(self.value_json, path), path=path),
            key_encoder=encoder if isinstance(encoder, str) else None,
            key_json=self.key_json,
            value_json=self.value_json,
        )

    def encoder(self, *, path: str) -> Mapping[str, Any]:
        """Return how its keys can be scanned, by Spark's names; `schema` tells of the rest."""
        found = self._json(self.encoder_json, path) if self.encoder_json else {}
        return found if isinstance(found, dict) else {}

    def _json(self, text: str, path: str) -> Any:  # noqa: ANN401 - it is JSON
        try:
            return parsed_json(text)
        except ValueError as e:
            expected = f"JSON of Spark in the column family {self.name}"
            raise MalformedFileError(path=path, expected=expected, found=cause_text(e)) from e

    def encoded(self) -> bytes:
        """Return it as it stands in a file."""
        flags = (INTERNAL if self.is_internal else 0) | (MANY_VALUES if self.has_many_values else 0)
        texts = (self.name, self.encoder_json, self.key_json, self.value_json)
        encoded = (text.encode() for text in texts)
        strings = b"".join(_INT.pack(len(text)) + text for text in encoded)
        return _INT.pack(self.family_id) + bytes([flags]) + strings


Families = Mapping[int, Family]


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyChanges:
    """What a file says of families.

    Attributes:
        removed: ids of families that go, with all their rows, before anything else is done.
        defined: families that are new, or are defined in another way.
        bytes: bytes of content that say so.
    """

    removed: tuple[int, ...]
    defined: tuple[Family, ...]
    bytes: int

    def applied(self, families: Families, file: StateFile) -> dict[int, Family]:
        """Return the families of a version, by their ids.

        Args:
            families: those of the version before; none for a snapshot.
            file: the file that says so.

        Raises:
            DamagedStateFileError: it does not fit what came before it.
        """
        found = dict(families)
        for family_id in self.removed:
            if family_id == DEFAULT_ID or found.pop(family_id, None) is None:
                raise _damaged(file, 0, "a family that can be removed", f"the id {family_id}")
        for family in self.defined:
            found[family.family_id] = family
        names = [family.name for family in found.values()]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise _damaged(file, 0, "families of different names", f"several named {twice!r}")
        return found


def encode_families(families: Families) -> bytes:
    """Return what a snapshot says of its families."""
    encoded = b"".join(families[family_id].encoded() for family_id in sorted(families))
    return _INT.pack(0) + _INT.pack(len(families)) + encoded


def read_families(blocks: Iterator[bytes], file: StateFile) -> tuple[FamilyChanges, bytes]:
    """Take what a file says of families off its content; return also what was taken behind it.

    Raises:
        DamagedStateFileError: it is not what any writer writes, or more than the file bears out.
    """
    fields = _Fields(blocks, file)
    removed = fields.list_of("removed families", fields.family_id)
    if removed and file.kind == "snapshot":
        raise fields.damaged("a snapshot that removes no families", f"{len(removed)} of them")
    defined = fields.list_of("families", fields.family)
    ids = [family.family_id for family in defined]
    if len({*ids}) < len(ids):
        raise fields.damaged("families of different ids", "an id twice")
    changes = FamilyChanges(removed=tuple(removed), defined=tuple(defined), bytes=fields.position)
    return changes, fields.rest()


class _Fields:
    """Takes one field after the other off the content of a file."""

    def __init__(self, blocks: Iterator[bytes], file: StateFile) -> None:
        self._blocks = blocks
        self._file = file
        self._content = bytearray()
        self._at = 0
        self._before = 0

    @property
    def position(self) -> int:
        """Bytes that were taken."""
        return self._before + self._at

    def list_of(self, what: str, one: Callable[[], _Part]) -> list[_Part]:
        """Take a list of fields; memory grows with what is there, not with their number."""
        count = self._number(f"the number of {what}")
        if not 0 <= count <= LARGEST_ID + 1:
            raise self.damaged(f"at most {LARGEST_ID + 1} {what}", str(count))
        return [one() for _ in range(count)]

    def family_id(self) -> int:
        """Take the id of a family."""
        number = self._number("the id of a family")
        if not 0 <= number <= LARGEST_ID:
            raise self.damaged(f"the id of a family, 0 to {LARGEST_ID}", str(number))
        return number

    def family(self) -> Family:
        """Take a family."""
        number = self.family_id()
        flags = self._take(1, "the flags of a family")[0]
        if flags & ~(INTERNAL | MANY_VALUES):
            raise self.damaged("flags of a family that are known, 0 to 3", str(flags))
        name, encoder, key, value = (
            self._text(f"the {what} of a family")
            for what in ("name", "key encoder", "key schema", "value schema")
        )
        return Family(
            family_id=number,
            name=name,
            is_internal=bool(flags & INTERNAL),
            has_many_values=bool(flags & MANY_VALUES),
            encoder_json=encoder,
            key_json=key,
            value_json=value,
        )

    def rest(self) -> bytes:
        """Return what follows of the piece at hand."""
        return bytes(self._content[self._at :])

    def damaged(self, expected: str, found: str) -> DamagedStateFileError:
        """Return the error about what was just taken."""
        return _damaged(self._file, self.position, expected, found)

    def _text(self, what: str) -> str:
        size = self._number(f"the length of {what}")
        if not 0 <= size <= _LONGEST_TEXT:
            raise self.damaged(f"{what} of at most {_LONGEST_TEXT:,} bytes", f"{size:,}")
        try:
            return self._take(size, what).decode()
        except UnicodeDecodeError as e:
            raise self.damaged(what, cause_text(e)) from e

    def _number(self, what: str) -> int:
        return int(_INT.unpack(self._take(_INT.size, what))[0])

    def _take(self, size: int, what: str) -> bytes:
        most = RECORD_BYTES + RATIO * self._file.size_bytes
        if self.position + size > most:
            raise self.damaged(f"families of at most {most:,} bytes in such a file", "more")
        while len(self._content) - self._at < size:
            block = next(self._blocks, b"")
            if not block:
                raise self.damaged(what, "the end of the content")
            del self._content[: self._at]
            self._before, self._at = self._before + self._at, 0
            self._content += block
        self._at += size
        return bytes(self._content[self._at - size : self._at])


def _damaged(file: StateFile, at: int, expected: str, found: str) -> DamagedStateFileError:
    return DamagedStateFileError(
        path=str(file.location),
        version=file.version,
        offset=at,
        of="its decompressed content",
        expected=expected,
        found=found,
    )

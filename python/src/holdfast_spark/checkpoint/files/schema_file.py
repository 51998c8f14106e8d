"""The schema files of state stores, which Spark writes beside their metadata.

A file begins with its version, `v1` to `v3`, as a Java modified UTF-8 string; all numbers are
big-endian (Spark's `SchemaHelper`, 3.5 to 4.3):

    string      | int16 length | bytes |
    long string | int32 number of strings | string | string | ...
    v1          | string key schema | string value schema |
    v2          | long string key schema | long string value schema |
    v3          | int32 column families | column family | ...
    column family of v3
                | string name | int16 key schema id | long string key schema |
                | int16 value schema id | long string value schema |
                | long string key encoder | long string user key schema |

A schema is Spark's JSON. Versions 1 and 2 have one column family, named `default`. Spark keeps
them in `_metadata/schema` of the store in partition 0, and version 3 below `_stateSchema`, where
the operator's metadata names the file.
"""

from __future__ import annotations

import contextlib
import struct
from dataclasses import dataclass

from holdfast_spark._text import named
from holdfast_spark.checkpoint.errors import MalformedFileError, UnknownFormatError
from holdfast_spark.checkpoint.files.json_values import no_json, no_text, parsed_json
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.spark_types import StructType, parse_struct

DEFAULT_COLUMN_FAMILY = "default"
_KNOWN_VERSIONS = ("v1", "v2", "v3")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFamily:
    """The schema of one column family.

    Attributes:
        name: its name, `default` in stores that have but one.
        key: schema of the keys.
        value: schema of the values.
        key_schema_id: number of the key schema among those that the query had.
        value_schema_id: number of the value schema among those that the query had.
        key_encoder: Spark's name for the order of keys, such as `PrefixKeyScanStateEncoderSpec`;
            None where the file does not tell.
        encoder_json: that order with all that belongs to it, as Spark wrote it.
        key_json: schema of the keys as Spark wrote it.
        value_json: schema of the values as Spark wrote it.
    """

    name: str
    key: StructType
    value: StructType
    key_schema_id: int = 0
    value_schema_id: int = 0
    key_encoder: str | None = None
    encoder_json: str = ""
    key_json: str = ""
    value_json: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSchema:
    """The schema of a store.

    Attributes:
        version: version of the file's format, 1 to 3.
        column_families: by name, in the file's order.
    """

    version: int
    column_families: dict[str, ColumnFamily]


def read_schema_file(file: Location) -> StateSchema:
    """Read a schema file.

    Raises:
        MalformedFileError: it is damaged.
        UnknownFormatError: its version or a type in it is unknown.
        UnreadablePathError: the file system refuses it.
    """
    fields = _Fields(file.read_bytes(), str(file))
    version = fields.string()
    if version == "v1":
        families = [_family(fields, fields.string(), fields.string())]
    elif version == "v2":
        families = [_family(fields, fields.long_string(), fields.long_string())]
    elif version == "v3":
        families = _families_v3(fields)
    else:
        raise UnknownFormatError(
            path=str(file),
            what="schema format version",
            found=named(version),
            known=_KNOWN_VERSIONS,
        )
    return StateSchema(
        version=int(version[1:]), column_families={family.name: family for family in families}
    )


def _family(fields: _Fields, key: str, value: str) -> ColumnFamily:
    return ColumnFamily(
        name=DEFAULT_COLUMN_FAMILY,
        key=fields.schema(key),
        value=fields.schema(value),
        key_json=key,
        value_json=value,
    )


def _families_v3(fields: _Fields) -> list[ColumnFamily]:
    """Return the families of version 3, which in the previews of Spark 4.0 had no schema ids."""
    start = fields.position
    try:
        return [_family_v3(fields) for _ in range(fields.number("i"))]
    except MalformedFileError:
        fields.position = start
        with contextlib.suppress(MalformedFileError):
            return [_family_v3(fields, has_ids=False) for _ in range(fields.number("i"))]
        raise


def _family_v3(fields: _Fields, *, has_ids: bool = True) -> ColumnFamily:
    name = fields.string()
    key_schema_id = fields.number("h") if has_ids else 0
    key = fields.long_string()
    value_schema_id = fields.number("h") if has_ids else 0
    value = fields.long_string()
    encoder_json = fields.long_string()
    encoder = fields.json(encoder_json)
    fields.long_string()
    return ColumnFamily(
        name=name,
        key=fields.schema(key),
        value=fields.schema(value),
        key_schema_id=key_schema_id,
        value_schema_id=value_schema_id,
        key_encoder=encoder.get("keyStateEncoderType") if isinstance(encoder, dict) else None,
        encoder_json=encoder_json,
        key_json=key,
        value_json=value,
    )


class _Fields:
    """Takes one field after the other off the content of a file."""

    def __init__(self, content: bytes, path: str) -> None:
        self._content = content
        self._path = path
        self.position = 0

    def number(self, kind: str) -> int:
        """Take a number: `h` for 16 bits, `H` for 16 without sign, `i` for 32."""
        size = struct.calcsize(kind)
        (value,) = struct.unpack(f">{kind}", self._take(size))
        return int(value)

    def string(self) -> str:
        """Take a string; Java writes NUL as C0 80 and pairs of surrogates as two characters."""
        raw = self._take(self.number("H")).replace(b"\xc0\x80", b"\0")
        try:
            text = raw.decode("utf-8", errors="surrogatepass")
            return text.encode("utf-16", errors="surrogatepass").decode("utf-16")
        except UnicodeDecodeError as e:
            raise self._malformed("text", no_text(e)) from e

    def long_string(self) -> str:
        """Take a string that Java could not write at once."""
        return "".join(self.string() for _ in range(self.number("i")))

    def json(self, text: str) -> object:
        """Parse JSON."""
        try:
            return parsed_json(text)
        except ValueError as e:
            raise self._malformed("JSON", no_json(text, e)) from e

    def schema(self, text: str) -> StructType:
        """Parse the JSON of a schema."""
        return parse_struct(self.json(text), path=self._path)

    def _take(self, size: int) -> bytes:
        end = self.position + size
        taken = self._content[self.position : end]
        if len(taken) < size:
            raise self._malformed(
                f"{size} bytes at byte {self.position}", f"{len(taken)} before the file's end"
            )
        self.position = end
        return taken

    def _malformed(self, expected: str, found: str) -> MalformedFileError:
        return MalformedFileError(path=self._path, expected=expected, found=found)

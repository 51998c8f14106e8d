"""Spark's data types, read from the JSON of a schema (`DataType.fromJson`, 4.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps, loads
from typing import Any, TypeAlias

from holdfast_spark.checkpoint.errors import UnknownFormatError
from holdfast_spark.checkpoint.files.json_values import short

_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")
_PARAMETERS = re.compile(r"(char|varchar|time)\(\d+\)")
_DAY_TIME = re.compile(r"interval (day|hour|minute|second)( to (hour|minute|second))?")
_YEAR_MONTH = re.compile(r"interval (year|month)( to month)?")

# Nobody writes such a schema, and what reads it goes as deep.
DEEPEST = 100
_MOST_DIGITS = 38

_ALIASES = {
    "null": "void",
    "timestamp_ltz": "timestamp",
    "char": "string",
    "varchar": "string",
    "decimal": "decimal(10,0)",
    # What a variant or a shape is made of, Spark alone interprets.
    "geometry": "binary",
    "geography": "binary",
}
_ATOMIC = (
    *("void", "boolean", "byte", "short", "integer", "long", "float", "double", "date"),
    *("timestamp", "timestamp_ntz", "time", "string", "binary", "variant"),
    *("day-time interval", "year-month interval", "interval"),
)


@dataclass(frozen=True, slots=True)
class AtomicType:
    """A type without parts, by Spark's name.

    Intervals are `day-time interval`, `year-month interval` and, for the calendar interval, Spark's
    `interval`, whatever units they are declared with: the bytes are the same. So are those of
    strings of any collation and length.
    """

    name: str


@dataclass(frozen=True, slots=True)
class DecimalType:
    """A decimal number of `precision` digits, `scale` of them behind the point."""

    precision: int
    scale: int


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array."""

    element: SparkType


@dataclass(frozen=True, slots=True)
class MapType:
    """A map."""

    key: SparkType
    value: SparkType


@dataclass(frozen=True, slots=True)
class StructField:
    """A field of a struct."""

    name: str
    type: SparkType


@dataclass(frozen=True, slots=True)
class StructType:
    """A struct, or the schema of a row."""

    fields: tuple[StructField, ...]


SparkType: TypeAlias = "AtomicType | DecimalType | ArrayType | MapType | StructType"


def parse_struct(json: Any, *, path: str) -> StructType:  # noqa: ANN401 - it is JSON
    """Read a schema.

    Args:
        json: the parsed JSON.
        path: the file it is from, for errors.

    Raises:
        UnknownFormatError: a type is unknown, or what is there is no schema.
    """
    parsed = parse_type(json, path=path)
    if not isinstance(parsed, StructType):
        raise UnknownFormatError(
            path=path, what="row type", found=describe(parsed), known=["struct"]
        )
    return parsed


def parse_type(json: Any, *, path: str, depth: int = 0) -> SparkType:  # noqa: ANN401 - it is JSON
    """Read a type in `depth` other ones; `parse_struct` tells of arguments and errors."""
    if depth > DEEPEST:
        found = f"of more than {DEEPEST} types in each other"
        raise UnknownFormatError(path=path, what="type", found=found, known=["simpler ones"])
    try:
        if isinstance(json, str):
            return _named(json)
        return _composed(json, path, depth + 1)
    except (KeyError, TypeError) as e:
        known = [*_ATOMIC, "decimal", "array", "map", "struct", "udt"]
        found = short(json, 80)
        raise UnknownFormatError(path=path, what="type", found=found, known=known) from e


def without_classes(text: str) -> str:
    """Return the JSON of a schema with what user-defined types consist of in their place.

    Spark makes an object of the class that such a type names (`DataType.fromJson`, 4.3), and the
    rows are the same without.
    """

    def plain(value: dict[str, Any]) -> Any:  # noqa: ANN401 - it is JSON
        is_class = value.get("type") == "udt" and "sqlType" in value
        return value["sqlType"] if is_class else value

    return dumps(loads(text, object_hook=plain))


def describe(kind: SparkType) -> str:
    """Return a type as DDL has it, such as `array<decimal(10,2)>`."""
    match kind:
        case DecimalType(precision, scale):
            return f"decimal({precision},{scale})"
        case ArrayType(element):
            return f"array<{describe(element)}>"
        case MapType(key, value):
            return f"map<{describe(key)},{describe(value)}>"
        case StructType(fields):
            inner = ",".join(f"{field.name}:{describe(field.type)}" for field in fields)
            return f"struct<{inner}>"
        case AtomicType(name):
            return name


def _named(name: str) -> SparkType:
    name = _ALIASES.get(name, name)
    if found := _DECIMAL.fullmatch(name):
        return _decimal(name, found[1], found[2])
    if found := _PARAMETERS.fullmatch(name):
        name = _ALIASES.get(found[1], found[1])
    elif _DAY_TIME.fullmatch(name):
        name = "day-time interval"
    elif _YEAR_MONTH.fullmatch(name):
        name = "year-month interval"
    elif name.startswith("string "):  # string collate ...
        name = "string"
    elif name.startswith(("geometry(", "geography(")):
        name = "binary"
    if name not in _ATOMIC:
        raise KeyError(name)
    return AtomicType(name)


def _decimal(name: str, precision: str, scale: str) -> DecimalType:
    longest = len("-38")
    if len(precision) > longest or len(scale) > longest:
        raise KeyError(name)
    kind = DecimalType(int(precision), int(scale))
    if not 0 < kind.precision <= _MOST_DIGITS or not -_MOST_DIGITS <= kind.scale <= kind.precision:
        raise KeyError(name)
    return kind


def _composed(json: Mapping[str, Any], path: str, depth: int) -> SparkType:
    match json["type"]:
        case "struct":
            fields = (
                StructField(_name(field), parse_type(field["type"], path=path, depth=depth))
                for field in json["fields"]
            )
            return StructType(tuple(fields))
        case "array":
            return ArrayType(parse_type(json["elementType"], path=path, depth=depth))
        case "map":
            key = parse_type(json["keyType"], path=path, depth=depth)
            return MapType(key, parse_type(json["valueType"], path=path, depth=depth))
        case "udt":
            return parse_type(json["sqlType"], path=path, depth=depth)
        case other:
            raise KeyError(other)


def _name(field: Mapping[str, Any]) -> str:
    name = field["name"]
    if not isinstance(name, str):
        raise TypeError("no name")
    # Half a pair of surrogates, which Java and JSON let through, is no character.
    return name.encode(errors="replace").decode()

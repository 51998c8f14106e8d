"""Schemas in DDL, such as `user string, clicks array<struct<at: timestamp>>`.

The names of types are those of Spark's SQL (`DataTypeAstBuilder`, 4.3), with either case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast_spark._arguments import TEXT, require_arguments
from holdfast_spark.checkpoint.errors import CheckpointError, UnknownFormatError
from holdfast_spark.checkpoint.files.schema_file import DEFAULT_COLUMN_FAMILY, ColumnFamily
from holdfast_spark.checkpoint.files.spark_types import (
    DEEPEST,
    ArrayType,
    DecimalType,
    MapType,
    SparkType,
    StructField,
    StructType,
    parse_type,
)

_TOKEN = re.compile(r"\s*(?:`((?:[^`]|``)+)`|'((?:[^'\\]|\\.|'')*)'|(\w+)|([<>(),:]))")
_WORD, _SIGN, _QUOTED, _TEXT = "word", "sign", "quoted", "text"
# What is missing where a sign is.
_SIGNS = {
    "": "a comma or the end",
    ",": "a comma",
    **{sign: repr(sign) for sign in "<>()"},
}

# What SQL calls a type, and what its JSON does.
_SQL_NAMES = {
    "tinyint": "byte",
    "smallint": "short",
    "int": "integer",
    "bigint": "long",
    "real": "float",
}
_DECIMALS = ("decimal", "dec", "numeric")
_DEFAULT_PRECISION, _MAX_PRECISION = 10, 38
_INTERVAL_UNITS = ("year", "month", "day", "hour", "minute", "second")


class DdlError(CheckpointError):
    """A schema is not written as DDL has it."""

    def __init__(self, *, ddl: str, expected: str, found: str) -> None:
        super().__init__(
            f"The schema {ddl!r} is not as DDL has it: expected {expected}, found {found}. Write "
            "it like 'user string, amount decimal(10,2), tags array<string>'."
        )


def parse_ddl(ddl: str) -> StructType:
    """Read a schema.

    Args:
        ddl: the fields; a schema without any is empty text.

    Raises:
        DdlError: it is none.
    """
    return _Parser(ddl).schema()


def schema_from_ddl(*, key: str, value: str) -> ColumnFamily:
    """Return the schema of a store's rows, for stores that have no schema file.

    Args:
        key: the columns of the key, as in `user string, day int`.
        value: the columns of the value.

    Raises:
        DdlError: one of them is not written as DDL has it.
    """
    require_arguments("checkpoint.schema_from_ddl", key=(key, TEXT), value=(value, TEXT))
    return ColumnFamily(name=DEFAULT_COLUMN_FAMILY, key=parse_ddl(key), value=parse_ddl(value))


class _Parser:
    def __init__(self, ddl: str) -> None:
        self._ddl = ddl
        self._tokens = [*self._split(), (_SIGN, "")]
        self._next = 0
        self._depth = 0

    def schema(self) -> StructType:
        fields = [] if self._at("") else self._fields(colon=False)
        self._take("")
        return StructType(tuple(fields))

    def _split(self) -> Iterator[tuple[str, str]]:
        position = 0
        while self._ddl[position:].strip():
            found = _TOKEN.match(self._ddl, position)
            if not found:
                raise self._error("a name or a type", self._ddl[position:].strip()[:20])
            quoted, text, word, sign = found.groups()
            if quoted is not None:
                yield _QUOTED, quoted.replace("``", "`")
            elif text is not None:
                yield _TEXT, text
            else:
                yield (_WORD, word) if word else (_SIGN, sign)
            position = found.end()

    def _fields(self, *, colon: bool) -> list[StructField]:
        fields = []
        while True:
            kind, name = self._tokens[self._next]
            if kind not in (_WORD, _QUOTED):
                raise self._error("the name of a field")
            self._next += 1
            if colon and self._at(":"):
                self._next += 1
            fields.append(StructField(name, self._type()))
            self._pass_remarks()
            if not self._at(","):
                return fields
            self._next += 1

    def _type(self) -> SparkType:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"at most {DEEPEST} types in each other", "more")
        found = self._one_type()
        self._depth -= 1
        return found

    def _one_type(self) -> SparkType:
        name = self._word("a type")
        if name == "array":
            self._take("<")
            element = self._type()
            self._take(">")
            return ArrayType(element)
        if name == "map":
            return self._map()
        if name == "struct":
            self._take("<")
            fields = [] if self._at(">") else self._fields(colon=True)
            self._take(">")
            return StructType(tuple(fields))
        if name in _DECIMALS:
            return self._decimal()
        return self._atomic(name)

    def _map(self) -> MapType:
        self._take("<")
        key = self._type()
        self._take(",")
        value = self._type()
        self._take(">")
        return MapType(key, value)

    def _decimal(self) -> DecimalType:
        precision, scale = self._numbers() if self._at("(") else (_DEFAULT_PRECISION, 0)
        if not scale <= precision <= _MAX_PRECISION:
            raise self._error("a decimal of at most 38 digits", f"({precision},{scale})")
        return DecimalType(precision, scale)

    def _numbers(self) -> tuple[int, int]:
        """Take one or two numbers in brackets; the second is 0 by default."""
        self._take("(")
        numbers = [self._number()]
        if self._at(","):
            self._next += 1
            numbers.append(self._number())
        self._take(")")
        return numbers[0], numbers[-1] if len(numbers) > 1 else 0

    def _number(self) -> int:
        word = self._word("a number")
        if not word.isdecimal():
            raise self._error("a number", word)
        return int(word)

    def _atomic(self, name: str) -> SparkType:
        if self._at("("):  # char(3), varchar(20), time(6)
            name = f"{name}({self._numbers()[0]})"
        elif name == "interval":
            name = self._interval()
        elif name == "string" and self._at_word("collate"):
            self._next += 1
            self._pass((_WORD, _QUOTED), "the name of a collation")
        try:
            return parse_type(_SQL_NAMES.get(name, name), path="the schema")
        except UnknownFormatError as e:
            raise self._error("a type of Spark", name) from e

    def _interval(self) -> str:
        words = ["interval"]
        while self._at_word(*_INTERVAL_UNITS, "to"):
            words.append(self._word("a unit"))
        return " ".join(words)

    def _pass_remarks(self) -> None:
        if self._at_word("not"):
            self._next += 1
            if not self._at_word("null"):
                raise self._error("NULL")
            self._next += 1
        if self._at_word("comment"):
            self._next += 1
            self._pass((_TEXT,), "a text in quotes")

    def _pass(self, kinds: Sequence[str], expected: str) -> None:
        if self._tokens[self._next][0] not in kinds:
            raise self._error(expected)
        self._next += 1

    def _word(self, expected: str) -> str:
        kind, text = self._tokens[self._next]
        if kind != _WORD:
            raise self._error(expected)
        self._next += 1
        return text.lower()

    def _at_word(self, *words: str) -> bool:
        kind, text = self._tokens[self._next]
        return kind == _WORD and text.lower() in words

    def _at(self, sign: str) -> bool:
        return self._tokens[self._next] == (_SIGN, sign)

    def _take(self, sign: str) -> None:
        if not self._at(sign):
            raise self._error(_SIGNS[sign])
        self._next += 1

    def _error(self, expected: str, found: str | None = None) -> DdlError:
        found = self._tokens[self._next][1] if found is None else found
        shown = found if found.replace("_", "").isalnum() else repr(found)
        return DdlError(ddl=self._ddl, expected=expected, found=shown if found else "its end")

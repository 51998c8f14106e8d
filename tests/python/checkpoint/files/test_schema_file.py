"""Schema files of every version."""

from __future__ import annotations

import json
import struct

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from checkpoint.checkpoints import schema_file, schema_json
from holdfast_spark.checkpoint.errors import MalformedFileError, UnknownFormatError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.schema_file import StateSchema, read_schema_file
from holdfast_spark.checkpoint.files.spark_types import describe, parse_type

KEY, VALUE = schema_json(k="long"), schema_json(v="string")


def utf(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def long_utf(*chunks: str) -> bytes:
    return struct.pack(">i", len(chunks)) + b"".join(utf(chunk) for chunk in chunks)


def read(content: bytes) -> StateSchema:
    fs = MemoryFileSystem()
    fs.pipe_file("/schema", content)
    return read_schema_file(Location(fs, "/schema"))


def family_v3(name: str, encoder: str) -> bytes:
    return b"".join(
        [
            utf(name),
            struct.pack(">h", 3),
            long_utf(KEY),
            struct.pack(">h", 4),
            long_utf(VALUE[:9], VALUE[9:]),
            long_utf(json.dumps({"keyStateEncoderType": encoder})),
            long_utf("{    }"),
        ]
    )


@pytest.mark.parametrize(
    ("version", "content"),
    [
        (1, utf("v1") + utf(KEY) + utf(VALUE)),
        (2, schema_file(KEY, VALUE)),
        (2, utf("v2") + long_utf(KEY[:5], KEY[5:]) + long_utf(VALUE)),
    ],
)
def test_old_versions_have_one_column_family(version: int, content: bytes) -> None:
    schema = read(content)
    assert schema.version == version
    (family,) = schema.column_families.values()
    assert (family.name, family.key_encoder) == ("default", None)
    assert describe(family.key) == "struct<k:long>"
    assert describe(family.value) == "struct<v:string>"


def test_version_3_has_column_families() -> None:
    encoder = "PrefixKeyScanStateEncoderSpec"
    content = utf("v3") + struct.pack(">i", 2) + family_v3("a", encoder) + family_v3("b", encoder)
    schema = read(content)
    assert list(schema.column_families) == ["a", "b"]
    family = schema.column_families["b"]
    assert (family.key_schema_id, family.value_schema_id) == (3, 4)
    assert family.key_encoder == encoder
    assert describe(family.value) == "struct<v:string>"


def test_version_3_of_the_previews_of_spark_4_had_no_schema_ids() -> None:
    parts = [utf("a"), long_utf(KEY), long_utf(VALUE), long_utf('{"x": 1}'), long_utf("{    }")]
    (family,) = read(utf("v3") + struct.pack(">i", 1) + b"".join(parts)).column_families.values()
    assert (family.name, family.key_schema_id, family.value_schema_id) == ("a", 0, 0)
    assert describe(family.key) == "struct<k:long>"
    with pytest.raises(MalformedFileError, match="is damaged"):
        read(utf("v3") + struct.pack(">i", 1) + b"".join(parts)[:-9])


def test_an_unknown_version_is_named() -> None:
    with pytest.raises(UnknownFormatError, match=r"schema format version v4.*knows v1, v2, v3"):
        read(utf("v4"))


def test_a_file_that_ends_anywhere_is_damaged() -> None:
    content = utf("v3") + struct.pack(">i", 1) + family_v3("a", "x")
    read(content)
    for size in range(len(content)):
        with pytest.raises(MalformedFileError, match="/schema is damaged: expected"):
            read(content[:size])


def test_what_is_no_json_is_damaged() -> None:
    with pytest.raises(MalformedFileError, match="expected JSON, found"):
        read(utf("v1") + utf("{") + utf("}"))


@pytest.mark.parametrize(
    ("json_type", "name"),
    [
        ("decimal(38,10)", "decimal(38,10)"),
        ("decimal(5, -2)", "decimal(5,-2)"),
        ("string collate UTF8_LCASE", "string"),
        ("varchar(10)", "string"),
        ("char(3)", "string"),
        ("time(6)", "time"),
        ("timestamp_ltz", "timestamp"),
        ("null", "void"),
        ("interval day to second", "day-time interval"),
        ("interval hour", "day-time interval"),
        ("interval year to month", "year-month interval"),
        ("interval month", "year-month interval"),
        ("interval", "interval"),
        ({"type": "array", "elementType": "byte", "containsNull": True}, "array<byte>"),
        (
            {"type": "map", "keyType": "date", "valueType": "float", "valueContainsNull": True},
            "map<date,float>",
        ),
        ({"type": "udt", "class": "c", "pyClass": None, "sqlType": "double"}, "double"),
    ],
)
def test_types_are_read_as_spark_writes_them(json_type: object, name: str) -> None:
    assert describe(parse_type(json_type, path="f")) == name


@pytest.mark.parametrize("json_type", ["money", {"type": "set"}, 7, {}])
def test_an_unknown_type_is_named(json_type: object) -> None:
    with pytest.raises(UnknownFormatError, match="f has the type"):
        parse_type(json_type, path="f")

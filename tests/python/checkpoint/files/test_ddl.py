"""Schemas as `holdfast plan` and `holdfast show` are told them."""

from __future__ import annotations

import pytest

from holdfast_spark.checkpoint.files.ddl import DdlError, parse_ddl
from holdfast_spark.checkpoint.files.spark_types import describe


@pytest.mark.parametrize(
    ("ddl", "types"),
    [
        ("a bigint, b string", "a:long,b:string"),
        ("A INT NOT NULL COMMENT 'it''s, no', `b c``d` Real", "A:integer,b c`d:float"),
        ("a decimal, b dec(5), c numeric(38, 3)", "a:decimal(10,0),b:decimal(5,0),c:decimal(38,3)"),
        (
            "t timestamp, n timestamp_ntz, l timestamp_ltz, d date, m time(6)",
            "t:timestamp,n:timestamp_ntz,l:timestamp,d:date,m:time",
        ),
        (
            "s struct<x: array<tinyint>, y map<string, struct<z: smallint>>>, e struct<>",
            "s:struct<x:array<byte>,y:map<string,struct<z:short>>>,e:struct<>",
        ),
        (
            "a interval, b interval day to second, c interval year",
            "a:interval,b:day-time interval,c:year-month interval",
        ),
        ("a char(3), b varchar(9), c string collate UTF8_LCASE", "a:string,b:string,c:string"),
        ("v variant, n void, b binary, o boolean", "v:variant,n:void,b:binary,o:boolean"),
        ("", ""),
    ],
)
def test_ddl_is_read_as_spark_reads_it(ddl: str, types: str) -> None:
    assert describe(parse_ddl(ddl)) == f"struct<{types}>"


@pytest.mark.parametrize(
    ("ddl", "expected"),
    [
        ("a", "expected a type, found its end"),
        ("a bigint b", "expected a comma or the end, found b"),
        ("a bigint,", "expected the name of a field, found its end"),
        ("a text", "expected a type of Spark, found text"),
        ("a array<bigint", "expected '>', found its end"),
        ("a map<bigint>", "expected a comma, found '>'"),
        ("a decimal(39,2)", "expected a decimal of at most 38 digits, found '(39,2)'"),
        ("a decimal(x)", "expected a number, found x"),
        ("a bigint; b int", "expected a name or a type, found '; b int'"),
        ("a int not", "expected NULL, found its end"),
        ("a int not b", "expected NULL, found b"),
        ("a int comment", "expected a text in quotes, found its end"),
        ("a string collate", "expected the name of a collation, found its end"),
        (
            f"a {'array<' * 2_000}int{'>' * 2_000}",
            "expected at most 100 types in each other, found more",
        ),
        ("a interval soon", "expected a comma or the end, found soon"),
    ],
)
def test_what_is_no_ddl_is_told(ddl: str, expected: str) -> None:
    with pytest.raises(DdlError) as error:
        parse_ddl(ddl)
    assert f"The schema {ddl!r} is not as DDL has it: {expected}. Write it" in str(error.value)

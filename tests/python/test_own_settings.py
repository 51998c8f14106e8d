"""Holdfast's own settings, before a query starts with them."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from holdfast_spark._jars import installed_spark_line
from holdfast_spark._memory_limit import limit_error
from holdfast_spark._own_settings import own_setting_errors
from holdfast_spark._setting_names import (
    EVICTION_HINTS,
    MEMORY_LIMIT,
    OWN,
    OWN_SETTINGS,
    PROVIDER,
    REAL_TIME_MODE,
)
from holdfast_spark.errors import NoSuchSettingError, WrongSettingError


def told(name: str, value: str = "1g") -> tuple[type[Exception], str]:
    (error,) = own_setting_errors({name: value}, line="4.3")
    return type(error), str(error)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        (f"{OWN}memoryLimt", MEMORY_LIMIT),
        (f"{OWN}memorylimit", MEMORY_LIMIT),
        (f"{OWN}memory.limit", MEMORY_LIMIT),
        (f"{OWN}evictionHint", EVICTION_HINTS),
        (f"{OWN}realtimemode", REAL_TIME_MODE),
        (f"{OWN}compression", " or ".join(OWN_SETTINGS)),
        (OWN, " or ".join(OWN_SETTINGS)),
        ("spark.holdfast.memoryLimit", MEMORY_LIMIT),
        ("spark.sql.holdfast.memoryLimit", MEMORY_LIMIT),
        ("spark.sql.streaming.holdfast.memoryLimit", MEMORY_LIMIT),
        ("spark.sql.streaming.statestore.holdfast.memoryLimit", MEMORY_LIMIT),
    ],
)
def test_a_name_that_there_is_not_is_told_with_the_nearest(name: str, meant: str) -> None:
    assert told(name) == (
        NoSuchSettingError,
        f"{name} is no setting of Holdfast: write {meant}, or leave it out. docs/settings.md has "
        "all of them.",
    )


def test_settings_of_others_are_theirs() -> None:
    of_others = {
        PROVIDER: "my.Provider",
        "spark.kubernetes.driver.label.holdfast.team": "a",
        "spark.sql.streaming.stateStore.rocksdb.memoryLimit": "1",
        "my.holdfast.memoryLimit": "1",
    }
    assert list(own_setting_errors(of_others, line="4.3")) == []


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        (EVICTION_HINTS, "yes", "true or false"),
        (REAL_TIME_MODE, "", "true or false"),
        *(
            (MEMORY_LIMIT, text, "bytes such as 8g, or a share of the heap from 1% to 100%")
            for text in ("lots", "", "0", "0%", "101%", "1.5g", "-1", "8 g", "8x")
        ),
    ],
)
def test_a_value_that_means_nothing_is_told_with_what_does(
    name: str, value: str, expected: str
) -> None:
    assert told(name, value) == (
        WrongSettingError,
        f"{name} is {value!r}: give {expected}, or leave it out.",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((MEMORY_LIMIT, text) for text in ("8g", " 8G ", "100%", " 40 % ", "1m", "1048576")),
        *((name, flag) for name in (EVICTION_HINTS, REAL_TIME_MODE) for flag in ("TRUE", " false")),
    ],
)
def test_a_value_that_the_jvm_takes_is_taken(name: str, value: str) -> None:
    assert list(own_setting_errors({name: value}, line="3.5")) == []


@pytest.mark.parametrize(
    ("text", "instead"), [("8GiB", "8g"), (" 8gi ", "8g"), ("512MiB", "512m"), ("1Pib", "1p")]
)
def test_units_that_this_spark_does_not_read_are_told_with_those_that_it_does(
    text: str, instead: str
) -> None:
    for line in ("3.5", "4.0", "4.1"):
        (error,) = own_setting_errors({MEMORY_LIMIT: text}, line=line)
        assert isinstance(error, WrongSettingError)
        assert str(error) == (
            f"{MEMORY_LIMIT} is {text!r}: give {instead}, as Spark reads units such as GiB since "
            f"4.2 and this is Spark {line}, or leave it out."
        )
    for line in ("4.2", "4.3"):
        assert list(own_setting_errors({MEMORY_LIMIT: text}, line=line)) == []


@pytest.mark.spark
def test_the_units_are_those_of_spark() -> None:
    import pyspark

    name = "org/apache/spark/network/util/JavaUtils.class"
    for jar in sorted(Path(pyspark.__file__).parent.glob("jars/spark-*common*.jar")):
        with ZipFile(jar) as archive:
            if name in archive.namelist():
                code = archive.read(name)
    # The constants of a class, each with its length in front.
    assert all(bytes([1, 0, len(unit)]) + unit in code for unit in (b"b", b"k", b"kb", b"g", b"pb"))
    line = installed_spark_line()
    for unit in (b"ki", b"kib", b"gi", b"gib", b"pib"):
        is_read = bytes([1, 0, len(unit)]) + unit in code
        assert is_read == (limit_error(f"9999999{unit.decode()}", line=line) is None)

"""Holdfast's own settings, before a query starts with them."""

from __future__ import annotations

import pytest

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
    (error,) = own_setting_errors({name: value})
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
    assert list(own_setting_errors(of_others)) == []


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
    assert list(own_setting_errors({name: value})) == []

"""Settings of state stores, Holdfast's own and Spark's beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from harness import ROOT
from holdfast_spark._setting_names import (
    CODEC,
    DRIVER_MEMORY,
    EVICTION_HINTS,
    EXECUTOR_MEMORY,
    MEMORY_LIMIT,
    OWN,
    OWN_SETTINGS,
)
from holdfast_spark.doctor.store_settings import beside_findings, own_findings

STORE = "spark.sql.streaming.stateStore."


def of_own(
    settings: Mapping[str, str], *, in_cluster: bool = True, runs: bool = False
) -> list[tuple[bool, str]]:
    found = own_findings(settings, line="4.3", in_cluster=in_cluster, runs=runs)
    return [(finding.stops, finding.error) for finding in found]


def beside(settings: Mapping[str, str], *, line: str = "4.3") -> list[str]:
    findings = list(beside_findings(settings, line=line))
    assert not any(finding.stops for finding in findings)
    return [finding.error for finding in findings]


def test_the_settings_are_those_of_the_documentation() -> None:
    page = (ROOT / "docs" / "settings.md").read_text()
    documented = re.findall(rf"^\| `({re.escape(OWN)}\w+)`", page, re.MULTILINE)
    assert documented == list(OWN_SETTINGS)
    for name in documented:
        assert of_own({name: "50%" if name == MEMORY_LIMIT else "true"}) == []


@pytest.mark.parametrize(
    "text",
    ["50%", " 40 % ", "1%", "80%", "300m", "838860800", "800MB", "819200KiB", "1m", "1048576"],
)
def test_a_limit_within_the_heap_is_in_order(text: str) -> None:
    assert of_own({MEMORY_LIMIT: text}) == []


@pytest.mark.parametrize(
    ("text", "stops", "sentence"),
    [
        ("lots", True, "'lots': give bytes such as 8g, or a share of the heap from 1% to 100%"),
        ("0", True, "'0': give bytes"),
        ("0%", True, "'0%': give bytes"),
        ("101%", True, "'101%': give bytes"),
        ("1.5g", True, "'1.5g': give bytes"),
        ("-1", True, "'-1': give bytes"),
        ("2g", False, f"'2g' and {EXECUTOR_MEMORY} is not set here: with Spark's default, 1g, "),
        ("1025m", False, "memory would end before the limit"),
        ("81%", False, "829.4 MiB of a heap of 1.0 GiB: memory may end before"),
        ("1g", False, "Give at most 80%."),
    ],
)
def test_a_limit_that_cannot_work_is_told(text: str, stops: bool, sentence: str) -> None:
    ((found, error),) = of_own({MEMORY_LIMIT: text})
    assert found == stops
    assert sentence in error


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("8", "is '8', 8 B, and state stores need at least 1.0 MiB: its unit was probably"),
        ("8", "forgotten, and 8g or 8m or 8% meant. Give bytes such as 8g, or a share"),
        (" 4096 ", "and 4096g or 4096m meant."),
        ("1b", "need at least 1.0 MiB. Give"),
        ("1023k", "is '1023k', 1,023.0 KiB, and state stores need"),
    ],
)
def test_a_limit_that_is_too_small_to_be_meant_is_told(text: str, sentence: str) -> None:
    ((stops, error),) = of_own({MEMORY_LIMIT: text})
    assert stops
    assert sentence in error


@pytest.mark.parametrize(
    ("heap", "runs"), [({EXECUTOR_MEMORY: "1g"}, False), ({}, True)], ids=["set", "running"]
)
def test_a_limit_above_the_heap_that_there_is_stops_holdfast(
    heap: dict[str, str], runs: bool
) -> None:
    ((stops, error),) = of_own({MEMORY_LIMIT: "2g", **heap}, runs=runs)
    assert stops
    assert f"'2g' and {EXECUTOR_MEMORY} is 1g: memory would end before" in error


def test_the_heap_is_the_executors_or_without_any_the_drivers() -> None:
    settings = {MEMORY_LIMIT: "3g", EXECUTOR_MEMORY: "4g", DRIVER_MEMORY: "2048"}
    assert of_own(settings) == []
    ((stops, error),) = of_own(settings, in_cluster=False)
    assert stops
    assert f"{DRIVER_MEMORY} is 2048" in error


def test_own_settings_that_are_refused_are_all_told() -> None:
    wrong = {f"{OWN}memoryLimt": "50%", "spark.holdfast.hints": "true", EVICTION_HINTS: "yes"}
    found = of_own({**wrong, MEMORY_LIMIT: "lots"})
    assert all(stops for stops, _ in found)
    assert [error.partition(" ")[0] for _, error in found] == [*wrong, MEMORY_LIMIT]


@pytest.mark.parametrize(
    "codec",
    ["lz4", "LZ4", "Zstd", "SNAPPY", "lzf", "org.apache.spark.io.LZ4CompressionCodec", "my.own$C"],
)
def test_a_codec_that_spark_takes_is_in_order(codec: str) -> None:
    assert of_own({CODEC: codec}) == []


@pytest.mark.parametrize("codec", ["lz5", "GZIP", " lz4", "", "none", "lz4,zstd"])
def test_a_codec_that_cannot_be_one_is_told(codec: str) -> None:
    ((stops, error),) = of_own({CODEC: codec})
    assert stops
    assert f"{CODEC} is {codec!r}, and there is no such codec. Queries that start with it" in error
    assert "give lz4, lzf, snappy, zstd, or the name of a class" in error


def test_a_codec_that_may_be_a_class_is_told_and_not_refused() -> None:
    ((stops, error),) = of_own({CODEC: "MyCodec"})
    assert not stops
    assert "is 'MyCodec', which Spark takes for a class without a package" in error


def test_spark_settings_at_their_defaults_are_in_order() -> None:
    assert beside({}) == []
    join = "spark.sql.streaming.join.stateFormatVersion"
    memory = "spark.sql.streaming.maxBatchesToRetainInMemory"
    assert beside({memory: "1", join: "2", f"{STORE}unloadOnCommit": "false"}) == []


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (f"{STORE}minDeltasForSnapshot", "20", "writes a snapshot after so many deltas"),
        ("spark.sql.streaming.maxBatchesToRetainInMemory", "0", "loads its state from"),
        (f"{STORE}unloadOnCommit", "true", "loads its state from the checkpoint again"),
        ("spark.sql.streaming.join.stateFormatVersion", "3", "joins that begin on Holdfast have 2"),
        (f"{STORE}rocksdb.maxOpenFiles", "9", "rocksdb.maxOpenFiles: set for RocksDB"),
    ],
)
def test_a_setting_that_does_what_is_not_to_be_expected_is_told(
    name: str, value: str, sentence: str
) -> None:
    (error,) = beside({name: value})
    assert name in error
    assert sentence in error


def test_joins_in_column_families_are_told_where_spark_looks_at_the_provider() -> None:
    join = {"spark.sql.streaming.join.stateFormatVersion": "3"}
    assert len(beside(join, line="4.3")) == 1
    assert beside(join, line="4.2") == []
    assert beside(join, line="4.1") == []


def test_snapshots_so_far_apart_that_none_can_be_repaired_are_told() -> None:
    deltas = f"{STORE}minDeltasForSnapshot"
    replay = f"{STORE}autoSnapshotRepair.maxChangeFileReplay"
    assert len(beside({deltas: "250"})) == 1
    assert "Give at most 250 deltas" in beside({deltas: "251"})[1]
    assert "Give at most 20 deltas" in beside({deltas: "30", replay: "40"})[1]

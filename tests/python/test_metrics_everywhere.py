"""Where metrics of stores can be seen: progress, `holdfast_spark.metrics`, the UI's SQL tab."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from harness import Spark, is_since

pytestmark = pytest.mark.spark

BATCHES = [text.split() for text in ("to be or not to be", "that is the question", "to be")]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    spark = Spark(tmp_path_factory.mktemp("metrics"))
    return spark.python("show_metrics.py", spark.folder).result()


def operators(shown: dict[str, Any]) -> list[dict[str, Any]]:
    """The progress of the operator in each batch."""
    return [progress["stateOperators"][0] for progress in shown["progress"]]


def test_progress_has_every_metric_of_the_provider(shown: dict[str, Any]) -> None:
    batches = operators(shown)
    assert len(batches) == len(BATCHES)
    for operator in batches:
        others = operator["customMetrics"].keys() - shown["announced"].keys()
        newest = {f"SnapshotLastUploaded.partition_{number}_default" for number in (0, 1)}
        assert others == (newest if is_since("4.1") else set())
        assert shown["announced"].keys() <= operator["customMetrics"].keys()


def test_progress_counts_what_the_batches_changed(shown: dict[str, Any]) -> None:
    batches = operators(shown)
    changed = [operator["customMetrics"]["holdfastDeltaRecords"] for operator in batches]
    assert changed == [len(set(words)) for words in BATCHES]
    keys = len({word for words in BATCHES for word in words})
    assert batches[-1]["numRowsTotal"] == keys
    assert batches[-1]["customMetrics"]["holdfastLiveBytes"] > 0
    assert batches[-1]["customMetrics"]["loadedMapCacheMissCount"] == 0


def test_the_typed_values_are_those_of_the_progress(shown: dict[str, Any]) -> None:
    last = operators(shown)[-1]
    typed = shown["typed"]
    assert typed["custom_metrics"] == last["customMetrics"]
    assert typed["num_rows_total"] == last["numRowsTotal"]
    for name in shown["announced"]:
        assert typed[snake_case(name)] == last["customMetrics"][name]


def test_the_stores_say_the_same_of_themselves(shown: dict[str, Any]) -> None:
    stores = shown["stores"]
    assert {store["partition_id"] for store in stores} == {0, 1}
    last = operators(shown)[-1]
    assert sum(store["num_keys"] for store in stores) == last["numRowsTotal"]
    assert (
        sum(store["live_bytes"] for store in stores) == last["customMetrics"]["holdfastLiveBytes"]
    )


def test_the_sql_tab_shows_every_metric_by_its_description(shown: dict[str, Any]) -> None:
    assert len(shown["ui"]) == len(BATCHES)
    for node in shown["ui"]:
        assert set(shown["announced"].values()) <= node.keys()


def test_the_sql_tab_shows_the_values_of_the_progress(shown: dict[str, Any]) -> None:
    counted = [name for name in shown["announced"] if name.endswith(("Records", "Count"))]
    assert "holdfastDeltaRecords" in counted
    in_progress = [operator["customMetrics"] for operator in operators(shown)]
    for name in counted:
        in_ui = [number(node[shown["announced"][name]]) for node in shown["ui"]]
        assert Counter(in_ui) == Counter(batch[name] for batch in in_progress)


def number(text: str) -> int:
    """The number that the UI shows of a sum."""
    return int(text.replace(",", ""))


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()

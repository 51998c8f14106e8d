"""Real queries with state in column families that go on with the other provider that has them."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from checkpoint.streams import APP, rows_in_order
from harness import SharedSpark
from holdfast_spark._jars import spark_line
from holdfast_spark.checkpoint import Checkpoint, verify_checkpoint
from holdfast_spark.checkpoint.files.providers import PROVIDERS

QUERIES = APP.with_name("family_queries.py")
MIGRATE = APP.with_name("migrate_all.py")
# What a query begins with in each place, and what it is switched to.
SWITCHES = {"from": ("rocksdb", "holdfast"), "to": ("holdfast", "rocksdb")}
STAYS = ("stays", "rocksdb")
JOINS = "join_3,join_4"
LONG = ["with_ids,avro,evolving", JOINS]
TIME = re.compile(r"\b1\d{12}\b")


def switches(names: str) -> dict[str, tuple[str, str]]:
    """What queries are switched: Spark 4.3 has joins of these formats begin on RocksDB alone."""
    alone = names == JOINS and spark_line(version("pyspark")) != "4.2"
    return {"from": SWITCHES["from"]} if alone else SWITCHES


def carried(spark: SharedSpark, folder: Path, names: str) -> dict[str, Any]:
    """Run queries, switch them, and run them on; what each step found, by its number."""
    found: dict[str, Any] = {}
    for step in (0, 1):
        places = {at: providers[step] for at, providers in switches(names).items()} | dict([STAYS])
        told = (f"{at}={provider}" for at, provider in places.items())
        found[str(step)] = spark.python(str(QUERIES), folder, str(step), names, *told).result()
        if step == 0:
            arguments = [
                f"{folder / f'{name}-{at}'}={to}"
                for name in names.split(",")
                for at, (_, to) in switches(names).items()
            ]
            bound = spark.python(str(MIGRATE), *arguments).result()
            assert bound == {
                path: PROVIDERS[to] for path, _, to in (each.partition("=") for each in arguments)
            }
    return found


def check(found: dict[str, Any], folder: Path, names: str) -> None:
    for name, places in found["1"].items():
        first = found["0"][name]
        wanted = places["stays"]
        assert any(first["stays"]["output"].values())
        assert any(wanted["output"].values())
        assert all(wanted["state"]), name
        for at, (_, to) in switches(names).items():
            result = places[at]
            assert told(first[at]) == told(first["stays"]), (name, at)
            # Times to live, too, are what they were.
            assert result["before"] == first[at]["state"], (name, at)
            assert told(result) == told(wanted), (name, at)
            checkpoint = Checkpoint.open(str(folder / f"{name}-{at}"))
            assert checkpoint.settings.provider_class == PROVIDERS[to]
            assert not any(store.has_unique_ids for store in checkpoint.stores)
            if to == "holdfast":
                assert verify_checkpoint(checkpoint).sound


def told(result: dict[str, Any]) -> tuple[Any, Any]:
    """What a query gave, and what it keeps, but for the times of the clock."""
    state = [[TIME.sub("now", row) for row in rows] for rows in result["state"]]
    return rows_in_order(result["output"]), [sorted(rows) for rows in state]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("no_spark_settings")
@pytest.mark.parametrize(
    "names", ["timed,lasting", *(pytest.param(each, marks=pytest.mark.long) for each in LONG)]
)
def test_queries_go_on_with_the_rows_that_they_had(
    shared_spark: SharedSpark, tmp_path: Path, names: str
) -> None:
    folder = tmp_path / "queries"
    check(carried(shared_spark, folder, names), folder, names)

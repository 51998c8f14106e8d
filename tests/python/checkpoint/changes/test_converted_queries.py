"""Real queries in checkpoint format 2 that go on in format 1, with another provider."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from checkpoint.streams import APP, StatefulQueries, rows_in_order, write_inputs
from harness import SharedSpark
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.files.providers import PROVIDERS

MIGRATE = APP.with_name("migrate_all.py")
QUERIES = ("counts", "sessions", "outer_join", "limit")
# What queries start with, and what they are switched to.
SWITCHES = (("holdfast", "hdfs"), ("holdfast", "rocksdb"), ("rocksdb", "holdfast"))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.since("4.2", "a state store that is written whole")
@pytest.mark.usefixtures("no_spark_settings")
def test_queries_go_on_without_ids(shared_spark: SharedSpark, tmp_path: Path) -> None:
    inputs, plain = tmp_path / "inputs", tmp_path / "plain"
    places = {tmp_path / f"{source}-{to}": (source, to) for source, to in SWITCHES}
    write_inputs(inputs, range(2))
    queries = StatefulQueries(shared_spark, inputs, partitions=2, names=",".join(QUERIES))
    queries.run("spark", plain)
    for source in ("holdfast", "rocksdb"):
        first, *others = (path for path, (start, _) in places.items() if start == source)
        queries.run(f"{source}_with_ids", first)
        for other in others:
            shutil.copytree(first, other)
    switches = [f"{path / query}={to}" for path, (_, to) in places.items() for query in QUERIES]
    bound = shared_spark.python(str(MIGRATE), *switches).result()
    assert bound == {
        str(path / q): PROVIDERS[to] for path, (_, to) in places.items() for q in QUERIES
    }
    write_inputs(inputs, range(2, 4))
    found = queries.run("holdfast", plain, *places, read="state")
    expected = found.pop(str(plain))
    assert any(result["output"] for result in expected.values())
    for path, (_, to) in places.items():
        for query in QUERIES:
            result, wanted = found[str(path)][query], expected[query]
            assert result["state"] == wanted["state"], (path.name, query)
            assert rows_in_order(result["output"]) == rows_in_order(wanted["output"]), query
            checkpoint = Checkpoint.open(str(path / query))
            assert checkpoint.settings.provider_class == PROVIDERS[to]
            assert not any(store.has_unique_ids for store in checkpoint.stores)

"""Queries whose checkpoints the default provider of each line wrote go on with Holdfast, and the
Python tools read them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner

from checkpoint.checkpoints import AT_ONCE
from checkpoint.test_golden import check
from harness import SharedSpark
from holdfast_spark import _jars
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.inspection import inspect_checkpoint
from holdfast_spark.cli import main as cli
from lines.cases import EVICTING, QUERIES
from lines.golden import BATCHES, HDFS, HOLDFAST, copy, job, lines, rows, unpack
from lines.process import go_on

LINES = lines()


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The golden checkpoints, by the line that wrote them."""
    folder = tmp_path_factory.mktemp("golden")
    return {line: unpack(line, folder) for line in LINES}


each_line = pytest.mark.parametrize("line", LINES)
each_query = pytest.mark.parametrize("query", QUERIES)


@each_line
def test_each_line_has_a_checkpoint_of_each_query(golden: dict[str, Path], line: str) -> None:
    assert {path.name for path in golden[line].iterdir()} == set(QUERIES)


@each_line
@each_query
def test_inspect_tells_what_is_in_it(golden: dict[str, Path], line: str, query: str) -> None:
    checkpoint = Checkpoint.open(str(golden[line] / query / "checkpoint"))
    found = inspect_checkpoint(checkpoint)
    assert found.provider_class == HDFS
    assert len(checkpoint.committed) >= BATCHES
    kinds = [operator.name for operator in found.operators]
    # Before Spark 4.0 a checkpoint does not tell what its operators are.
    assert ("unknown" in kinds) == (line == "3.5"), kinds
    stores = [store for operator in found.operators for store in operator.stores]
    assert {store.newest_version for store in stores} == {len(checkpoint.committed)}


@each_line
@each_query
def test_verify_finds_it_sound(golden: dict[str, Path], line: str, query: str) -> None:
    found = verify_checkpoint(Checkpoint.open(str(golden[line] / query / "checkpoint")))
    assert found.sound, found


@each_line
@each_query
def test_its_rows_are_those_that_spark_reads(
    golden: dict[str, Path], line: str, query: str
) -> None:
    assert check(golden[line] / query) > 0


@each_line
def test_show_shows_them(golden: dict[str, Path], line: str) -> None:
    place = golden[line] / "aggregation" / "checkpoint"
    shown = CliRunner().invoke(cli.main, ["show", str(place), "--json"])
    assert shown.exit_code == 0, shown.stderr
    found = [json.loads(row) for row in shown.stdout.splitlines()]
    counts = Checkpoint.open(str(place)).read()
    assert len(found) == sum(piece.num_rows for piece in counts) > 0


@each_line
@each_query
def test_a_switch_plans_a_batch_without_data_but_for_a_limit(
    golden: dict[str, Path], line: str, query: str, tmp_path: Path
) -> None:
    path = str(copy(golden[line] / query, tmp_path) / "checkpoint")
    migrate(Checkpoint.open(path), "holdfast", apply=True, settled=AT_ONCE)
    checkpoint = Checkpoint.open(path)
    assert checkpoint.settings.provider_class == HOLDFAST
    planned = checkpoint.planned[-1] - checkpoint.committed[-1]
    assert planned == (0 if query == "limit" else 1)
    assert verify_checkpoint(checkpoint).sound


def gone_on(
    spark: SharedSpark, golden: dict[str, Path], since: Iterable[str], *providers: str
) -> None:
    """Take the checkpoints of some lines further: what comes out is what came out when its own line
    went on, with every provider, or this Spark refuses it with every provider."""
    jobs, expected = {}, {}
    for line in since:
        for query in QUERIES:
            expected[line, query] = json.loads((golden[line] / query / "next.json").read_text())
            for provider in providers:
                to = copy(golden[line] / query, spark.folder / line / provider)
                if provider == HOLDFAST:
                    migrate(
                        Checkpoint.open(str(to / "checkpoint")),
                        "holdfast",
                        apply=True,
                        settled=AT_ONCE,
                    )
                jobs[line, query, provider] = job(to, provider)
    results = dict(zip(jobs, go_on(spark, jobs.values()), strict=True))
    for (line, query, provider), result in results.items():
        if result["error"] is None:
            assert rows(result) == expected[line, query], (line, query, provider)
            assert result["provider"] == provider
            assert (result["hinted"] > 0) == (provider == HOLDFAST and query in EVICTING)
            path = jobs[line, query, provider]["checkpoint"]
            assert verify_checkpoint(Checkpoint.open(path)).sound
        else:
            assert is_newer(line), (line, query, provider, result["error"])
            assert all(results[line, query, by]["error"] for by in providers)


def is_newer(line: str) -> bool:
    """Whether it is newer than the line under test: Spark promises to read older ones alone."""
    return LINES.index(line) > LINES.index(_jars.installed_spark_line())


@pytest.mark.spark
@pytest.mark.main_job
@pytest.mark.usefixtures("no_spark_settings")
def test_holdfast_goes_on_from_those_of_its_own_line_and_of_the_oldest(
    shared_spark: SharedSpark, golden: dict[str, Path]
) -> None:
    own = _jars.installed_spark_line()
    gone_on(shared_spark, golden, dict.fromkeys([LINES[0], own]), HOLDFAST)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.usefixtures("no_spark_settings")
@each_line
def test_holdfast_goes_on_where_spark_s_provider_does(
    shared_spark: SharedSpark, golden: dict[str, Path], line: str
) -> None:
    gone_on(shared_spark, golden, [line], HOLDFAST, HDFS)

"""Checkpoints as older Sparks wrote them, which Spark still restarts.

Those that Spark's own tests carry are read where the build has fetched them; small ones with the
same traits are made here.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from click.testing import CliRunner

from checkpoint.checkpoints import (
    AT_ONCE,
    GOLDEN,
    counts,
    long_row,
    lz4,
    records,
    row,
    schema_file,
    schema_json,
)
from checkpoint.plans import replanned
from checkpoint.streams import StatefulQueries, write_inputs
from checkpoint.test_golden import rows
from harness import SharedSpark, Spark, search_path
from holdfast_spark.checkpoint import Checkpoint, CheckpointError, make_savepoint, migrate
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.providers import PROVIDERS
from holdfast_spark.checkpoint.files.schema_file import read_schema_file
from holdfast_spark.checkpoint.rows.supposed_placement import STRICT_DISTRIBUTION
from holdfast_spark.cli import main as cli

VERSIONS = {"1.delta": [row(1, 10), row(2, 20)], "2.delta": [row(1, None), row(3, 30)]}
NO_VALUE = struct.pack("<QQ", 1, 0)


@pytest.fixture
def before_3_1(tmp_path: Path) -> Path:
    """A checkpoint without a schema file and without metadata of the operator."""
    path = counts(tmp_path / "before-3.1", VERSIONS, batches=2)
    shutil.rmtree(path / "state/0/_metadata")
    shutil.rmtree(path / "state/0/0/_metadata")
    return path


@pytest.fixture
def of_2_1(before_3_1: Path) -> Path:
    """A checkpoint without commits, and without settings in its offsets."""
    shutil.rmtree(before_3_1 / "commits")
    for batch in range(2):
        text = f'v1\n{{"batchWatermarkMs":0,"batchTimestampMs":{1000 + batch}}}\n{batch}'
        (before_3_1 / f"offsets/{batch}").write_text(text)
    return before_3_1


@pytest.fixture
def before_3_4(tmp_path: Path) -> Path:
    """A deduplication by two columns whose schema says that values are like its input's rows."""
    keys = [(long_row(1, 7), NO_VALUE), (long_row(2, None), NO_VALUE)]
    path = counts(tmp_path / "before-3.4", {"1.delta": keys}, batches=1)
    shutil.rmtree(path / "state/0/_metadata")
    columns = schema_json(a="long", b="long")
    (path / "state/0/0/_metadata/schema").write_bytes(schema_file(columns, columns))
    return path


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output + result.stderr
    return result.stdout


def shown(*arguments: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("show", *arguments, "--json").splitlines()]


def test_a_checkpoint_without_schema_is_sound(before_3_1: Path) -> None:
    assert verify_checkpoint(Checkpoint.open(str(before_3_1))).sound
    assert "Operator 0 has no schema of the store default" in run("inspect", before_3_1)


def test_its_rows_are_shown_as_far_as_the_bytes_tell(before_3_1: Path) -> None:
    assert shown(before_3_1) == [
        {"partition_id": 0, "key": {"field0": 2}, "value": {"field0": 20}},
        {"partition_id": 0, "key": {"field0": 3}, "value": {"field0": 30}},
    ]


def test_its_rows_are_shown_with_the_columns_that_are_given(before_3_1: Path) -> None:
    columns = ("--key-schema", "day timestamp", "--value-schema", "n bigint")
    (first, _) = shown(before_3_1, *columns)
    assert first["key"] == {"day": "1970-01-01T00:00:00.000002Z"}
    assert first["value"] == {"n": 20}


@pytest.mark.parametrize(
    "options",
    [("--key-schema", "a int"), ("--key-schema", "a", "--value-schema", "b int")],
)
def test_columns_that_are_none_are_refused(before_3_1: Path, options: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli.main, ["show", str(before_3_1), *options])
    assert result.exit_code in (1, 2)
    assert "Traceback" not in result.output


def test_it_is_still_found_damaged(before_3_1: Path) -> None:
    (before_3_1 / "state/0/0/2.delta").write_bytes(lz4(records([(b"1234567", None)])))
    found = verify_checkpoint(Checkpoint.open(str(before_3_1)))
    assert not found.goes_on
    assert "a key of whole 8-byte words" in found.broken[0].error


def test_without_commits_the_newest_batch_runs_again(of_2_1: Path) -> None:
    checkpoint = Checkpoint.open(str(of_2_1))
    found = verify_checkpoint(checkpoint)
    assert (found.sound, found.next_batch, found.reruns) == (True, 1, True)
    assert [each["key"] for each in shown(of_2_1)] == [{"field0": 1}, {"field0": 2}]
    assert [each["key"] for each in shown(of_2_1, "--batch-id", "1")] == [
        {"field0": 2},
        {"field0": 3},
    ]


def test_deduplication_has_no_values_whatever_its_schema_says(before_3_4: Path) -> None:
    assert verify_checkpoint(Checkpoint.open(str(before_3_4))).sound
    assert shown(before_3_4) == [
        {"partition_id": 0, "key": {"a": 1, "b": 7}, "value": None},
        {"partition_id": 0, "key": {"a": 2, "b": None}, "value": None},
    ]


def test_deduplication_without_values_is_compared_and_repartitioned(before_3_4: Path) -> None:
    told = run("diff", before_3_4)
    assert '+ 0 {"a": 1, "b": 7} null' in told
    assert told.endswith("2 added, 0 changed, 0 removed\n")
    # As Spark 4.0 and later write it beside the schema that is there.
    of_operator = {
        "operatorInfo": {"operatorId": 0, "operatorName": "dedupe"},
        "stateStoreInfo": [{"storeName": "default", "numColsPrefixKey": 0, "numPartitions": 1}],
    }
    metadata = before_3_4 / "state/0/_metadata/metadata"
    metadata.parent.mkdir()
    metadata.write_text(f"v1\n{json.dumps(of_operator)}")
    before = shown(before_3_4)
    run("repartition", before_3_4, "--partitions", "3", "--apply", "--settled", "0")
    assert verify_checkpoint(Checkpoint.open(str(before_3_4))).sound
    after = [{**each, "partition_id": 0} for each in shown(before_3_4)]
    assert sorted(after, key=str) == sorted(before, key=str)


@pytest.mark.parametrize("to", ["holdfast", "hdfs"])
def test_old_checkpoints_migrate(before_3_1: Path, before_3_4: Path, to: str) -> None:
    for path in (before_3_1, before_3_4):
        run("migrate", path, "--to", to, "--apply", "--settled", "0")
        assert verify_checkpoint(Checkpoint.open(str(path))).sound
        assert shown(path)


@pytest.mark.parametrize("lost", ["1", "0/right-keyToNumValues", "*/right-keyToNumValues"])
def test_stores_that_are_gone_are_missed_without_metadata(lost: str, tmp_path: Path) -> None:
    """Spark 3.5 wrote none, and every batch leaves a file in each store."""
    path = tmp_path / "checkpoint"
    shutil.copytree(GOLDEN / "spark-3.5/join/checkpoint", path)
    offsets = path / "offsets/3"
    three = offsets.read_text().replace('partitions":"2"', 'partitions":"3"')
    if lost == "1":  # of three, that in between
        offsets.write_text(three)
        shutil.copytree(path / "state/0/1", path / "state/0/2")
    assert all(store.recoverable for store in verify_checkpoint(Checkpoint.open(path)).stores)
    gone = list((path / "state/0").glob(lost))
    for folder in gone:
        shutil.rmtree(folder)
    found = verify_checkpoint(Checkpoint.open(path))
    missed = [store for store in found.stores if not store.recoverable]
    assert len(missed) == len(gone) * (4 if lost == "1" else 1)
    with pytest.raises(CheckpointError, match=r"not switched: .* the version that the query goes"):
        migrate(Checkpoint.open(path), "holdfast", settled=AT_ONCE)
    with pytest.raises(CheckpointError, match=r"would not be whole: of what it needs, .* the ver"):
        make_savepoint(Checkpoint.open(path), tmp_path / "copy")


def test_without_a_log_of_committed_batches_there_is_nothing_to_go_on_from(
    of_2_1: Path, tmp_path: Path
) -> None:
    text = r"has no log of committed batches: .*, which Spark writes since 2\.3, found none\. Let"
    with pytest.raises(CheckpointError, match=text):
        make_savepoint(Checkpoint.open(of_2_1), tmp_path / "copy")
    with pytest.raises(CheckpointError, match=text):
        migrate(Checkpoint.open(of_2_1), "holdfast", apply=True, stopped=True, settled=AT_ONCE)
    assert not (tmp_path / "copy").exists()


def test_text_and_decimals_are_told_from_numbers(before_3_1: Path) -> None:
    def text_row(number: int, text: bytes) -> bytes:
        padded = text.ljust(-(-len(text) // 8) * 8, b"\0")
        return struct.pack("<QqQ", 0, number, 24 << 32 | len(text)) + padded

    def decimal_row(number: bytes) -> bytes:
        words = (0, 24 << 32 | len(number), 40 << 32 | len(number))
        return struct.pack("<3Q", *words) + 2 * number.ljust(16, b"\0")

    rows = [
        (text_row(1, b"ada"), decimal_row(b"\x14")),
        (text_row(2, "céline und eve".encode()), decimal_row(b"\x14\x00\x00")),
        (text_row(3, b""), decimal_row(b"\x07" * 16)),
    ]
    (before_3_1 / "state/0/0/2.delta").write_bytes(lz4(records([row(1, None), row(2, None)])))
    (before_3_1 / "state/0/0/2.snapshot").write_bytes(lz4(records(rows)))
    (before_3_1 / "state/0/0/1.delta").unlink()
    found = shown(before_3_1)
    assert [each["key"]["field1"] for each in found] == ["ada", "céline und eve", ""]
    assert [each["key"]["field0"] for each in found] == [1, 2, 3]
    assert [len(each["value"]) for each in found] == [2, 2, 2]


def _of_spark(tmp_path: Path) -> Path | None:
    """Unpack the checkpoints of Spark's tests; None where the build has not fetched them."""
    cache = Path(os.environ.get("COURSIER_CACHE", Path.home() / ".cache" / "coursier"))
    jars = sorted(cache.glob("**/spark-sql_2.13-*-tests.jar"))
    if not jars:
        return None
    with ZipFile(jars[-1]) as jar:
        names = [n for n in jar.namelist() if n.startswith("structured-streaming/checkpoint-")]
        jar.extractall(tmp_path, names)
    return tmp_path / "structured-streaming"


# Batch that the query goes on with, and whether it was planned.
OF_SPARK = {
    "2.1.0": (1, True),
    "2.3.1-flatMapGroupsWithState-state-format-1": (2, False),
    "2.3.1-streaming-aggregate-state-format-1": (2, False),
    "2.3.1-without-commit-log-metadata": (2, False),
    "2.4.0-streaming-join": (1, False),
    "2.4.5-for-compatibility-test-common-functions": (1, False),
    "2.4.5-for-compatibility-test-deduplicate": (1, False),
    "2.4.5-for-compatibility-test-statistical-functions": (1, False),
    "2.4.5-for-compatibility-test-sum-decimal": (1, False),
    "3.0.0-streaming-statestore-codec": (1, False),
    "3.1.0-flatmapgroupswithstate-repartition": (1, False),
    "3.2.0-deduplication-with-repartition": (2, False),
    "3.2.0-flatmapgroupswithstate1-repartition": (1, False),
    "3.2.0-flatmapgroupswithstate2-repartition": (1, False),
    "3.2.0-session-window-with-repartition": (2, False),
    "3.2.0-streaming-aggregate-with-repartition": (2, False),
    "3.3.0-streaming-deduplication": (2, False),
    "3.5.1-streaming-deduplication": (2, False),
    "3.5.1-streaming-join": (1, False),
    "4.0.0/hdfs/agg": (4, False),
    "4.0.0/hdfs/dedup": (4, False),
    "4.0.0/hdfs/join1": (5, False),
    "4.0.0/hdfs/join2": (5, False),
    "4.0.0/hdfs/limit": (4, False),
    "4.0.1-dedup-spark-53942": (1, False),
}


# What Spark's `statestore` source says of those of which it reads no row. It wants a log of
# commits, which Spark 2.1 had not got; schemas, which Spark wrote since 3.1; for a join metadata or
# schemas; and values like their schema, which deduplication has since 3.4.
UNREAD_BY_SPARK = {
    "2.1.0": "STDS_COMMITTED_BATCH_UNAVAILABLE",
    "2.4.0-streaming-join": "requirement failed",
    **{
        name: "STDS_FAILED_TO_READ_STATE_SCHEMA"
        for name in OF_SPARK
        if name.startswith(("2.3", "2.4.5", "3.0"))
    },
    "3.2.0-deduplication-with-repartition": "STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE",
    "3.3.0-streaming-deduplication": "STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE",
}


@pytest.mark.spark
@pytest.mark.slow
def test_the_rows_shown_are_those_that_spark_reads_where_it_does(
    spark: Spark, tmp_path: Path
) -> None:
    folder = _of_spark(tmp_path)
    if not folder:
        return
    paths = {str(folder / f"checkpoint-version-{name}"): name for name in OF_SPARK}
    app, out = Path(__file__).parent / "apps" / "read_old_state.py", tmp_path / "out.json"
    done = spark.python(str(app), out, *paths, TZ="UTC", PYTHONPATH=search_path(app.parents[2]))
    assert done.code == 0, done.err
    unread = {}
    for path, stores in json.loads(out.read_text()).items():
        for options, found in stores:
            if isinstance(found, str):
                assert UNREAD_BY_SPARK[paths[path]] in found
                # Of these the bytes tell what the rows are.
                unread[paths[path]] = len(shown(path, "--store-name", options["storeName"]))
            else:
                assert rows(Checkpoint.open(path), options) == found, (paths[path], options)
    assert unread.keys() == UNREAD_BY_SPARK.keys()
    assert all(unread.values())


def test_the_checkpoints_of_spark_s_own_tests_are_sound_shown_and_switched(tmp_path: Path) -> None:
    folder = _of_spark(tmp_path)
    for name, (batch, reruns) in OF_SPARK.items() if folder else ():
        path = tmp_path / "structured-streaming" / f"checkpoint-version-{name}"
        checkpoint = Checkpoint.open(str(path))
        found = verify_checkpoint(checkpoint)
        assert (found.sound, found.next_batch, found.reruns) == (True, batch, reruns), name
        count = 0
        for store in sorted({store.name for store in checkpoint.stores}):
            count += len(shown(path, "--store-name", store))
        assert count, name
        if not reruns:
            run("migrate", path, "--to", "holdfast", "--apply", "--settled", "0")


def test_logs_of_spark_s_own_tests_that_contradict_each_other_are_told(tmp_path: Path) -> None:
    folder = _of_spark(tmp_path)
    if folder:
        path = folder / "checkpoint-test-offsetId-commitId-inconsistent"
        found = verify_checkpoint(Checkpoint.open(str(path)))
        assert not found.goes_on
        assert "has lost the batches 3" in found.broken[0].error


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("no_spark_settings")
def test_queries_of_old_checkpoints_go_on_with_holdfast(
    shared_spark: SharedSpark, tmp_path: Path
) -> None:
    inputs, straight, old = tmp_path / "inputs", tmp_path / "straight", tmp_path / "old"
    write_inputs(inputs, range(3))
    names = ("counts", "distinct", "sessions", "outer_join", "limit", "pandas")
    queries = StatefulQueries(shared_spark, inputs, partitions=2, names=",".join(names))
    queries.run("spark", straight)
    shutil.copytree(straight, old)
    for name in names:
        age(old / name)
        assert verify_checkpoint(Checkpoint.open(str(old / name))).sound
        run("migrate", old / name, "--to", "holdfast", "--apply", "--settled", "0")
    write_inputs(inputs, range(3, 5))
    found = queries.run("holdfast", straight, old)
    assert any(result["output"] for result in found[str(straight)].values())
    for name in names:
        assert rows_of(found[str(old)][name]) == rows_of(found[str(straight)][name]), name
        settings = Checkpoint.open(str(old / name)).settings
        assert settings.provider_class == PROVIDERS["holdfast"]


def rows_of(result: dict[str, Any]) -> list[str]:
    """The rows of all batches; the change of provider may take a batch of its own."""
    return sorted(row for rows in result["output"].values() for row in rows)


def age(path: Path) -> None:
    """Leave what Spark before 3.1 wrote; of a deduplication, what Spark 3.1 to 3.3 did."""
    # Spark 3.5 has none either.
    shutil.rmtree(path / "state/0/_metadata", ignore_errors=True)
    for offsets in (path / "offsets").glob("[0-9]*"):
        # Spark 3.3 was the first to keep it.
        offsets.write_text(
            replanned(offsets.read_text(), lambda plan: plan["conf"].pop(STRICT_DISTRIBUTION))
        )
        offsets.with_name(f".{offsets.name}.crc").unlink(missing_ok=True)
    for schema in path.glob("state/*/0/**/_metadata/schema"):
        family = read_schema_file(Location.of(str(schema))).column_families["default"]
        shutil.rmtree(schema.parent)
        if path.name == "distinct":
            schema.parent.mkdir()
            schema.write_bytes(schema_file(family.key_json, family.key_json))

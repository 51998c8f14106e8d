"""The commands about checkpoints."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import fsspec
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from checkpoint.checkpoints import (
    GOLDEN,
    counts,
    long_row,
    lz4,
    offsets,
    records,
    row,
    schema_file,
    schema_json,
)
from harness import ROOT
from holdfast_spark.cli import main as cli
from holdfast_spark.cli.checkpoint_command import CheckpointCommand
from holdfast_spark.cli.reference import reference

VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30)],
    "2.snapshot": [row(2, 20), row(3, 30)],
    "3.delta": [row(3, 31), row(4, 40)],
}
TYPED = GOLDEN / "spark-4.3" / "typed" / "checkpoint"
JOIN = GOLDEN / "spark-4.3" / "join" / "checkpoint"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=3)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


def output(*arguments: str | Path) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def document(*arguments: str | Path) -> Any:  # noqa: ANN401 - it is JSON
    return json.loads(output(*arguments, "--json"))


def sentence(*arguments: str | Path, code: int = 1) -> str:
    """The error that a command ends with."""
    result = run(*arguments)
    assert result.exit_code == code
    assert "Traceback" not in result.stderr
    return result.stderr


def rows(*arguments: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output("show", *arguments, "--json").splitlines()]


def test_inspect_tells_what_there_is(path: Path) -> None:
    found = document("inspect", path)
    assert found["path"] == str(path)
    assert found["query_id"] == "6a2f8c5e-0000-4000-8000-000000000000"
    assert (found["first_batch"], found["newest_batch"], found["newest_committed_batch"]) == (
        *(0, 2, 2),
    )
    assert found["newest_batch_started"] == "1970-01-01T00:00:03+00:00"
    ((store,),) = [operator["stores"] for operator in found["operators"]]
    sizes = {file.name: file.stat().st_size for file in (path / "state/0/0").glob("*.*")}
    assert store == {
        "name": "default",
        "partitions": 1,
        "versions": "1-3",
        "newest_version": 3,
        "deltas": 3,
        "delta_bytes": sizes["1.delta"] + sizes["2.delta"] + sizes["3.delta"],
        "snapshots": 1,
        "snapshot_bytes": sizes["2.snapshot"],
        "shared_files": 0,
        "shared_bytes": 0,
        "delta_bytes_per_version": (sizes["1.delta"] + sizes["2.delta"] + sizes["3.delta"]) // 3,
        "newest_snapshot_bytes": sizes["2.snapshot"],
        "snapshot_lag": 1,
        "other_attempts": 0,
        "column_families": [],
    }
    assert found["odd"] == []
    offsets_file = path / "offsets/2"
    formats = '"spark.sql.streaming.aggregation.stateFormatVersion":"2",'
    formats += '"spark.sql.streaming.join.stateFormatVersion":"2",'
    offsets_file.write_text(offsets_file.read_text().replace('"conf": {', f'"conf": {{{formats}'))
    text = output("inspect", path)
    assert "state formats  aggregation 2 " in text
    assert "stateStoreSave" in text
    assert "Odd" not in text


def test_inspect_tells_what_is_odd(path: Path) -> None:
    (path / "commits/2").unlink()
    (path / "commits/1").unlink()
    (path / "state/0/0/1.delta").unlink()
    (path / "state/0/0/3.delta").write_bytes(b"")
    (path / "state/0/0/.4.delta.7a.tmp").touch()
    (path / "offsets/2").write_bytes(offsets(2, encodingFormat="unsaferow"))
    (path / "state/0/_metadata/metadata").unlink()
    (path / "state/1/0").mkdir(parents=True)
    (path / "state/1/0/70.zip").touch()
    (path / "state/2/0").mkdir(parents=True)
    (path / "state/2/0/1.snapshot").write_bytes(b"x")
    (path / "state/2/0/60.delta").write_bytes(b"x")
    odd = "\n".join(document("inspect", path)["odd"])
    for part in (
        "Batch 2 is planned, and of the batches before it the newest that is committed is 0: see",
        "1 of 3 stores have files of Spark's RocksDB provider",
        "Operator 0 has no metadata",
        "Store 0/0 cannot be put together at version 1,",
        "Store 0/0 has empty files, of the versions 3.",
        "Store 2/0 has had no snapshot for 59 versions",
        "1 temporary file was left behind",
    ):
        assert part in odd
    assert "Batch 2 is planned" in output("inspect", path)


def test_inspect_misses_partitions(path: Path) -> None:
    metadata = path / "state/0/_metadata/metadata"
    metadata.write_text(metadata.read_text().replace('"numPartitions": 1', '"numPartitions": 4'))
    assert document("inspect", path)["odd"] == []  # Spark obeys what the newest batch pins
    newest = max((path / "offsets").iterdir(), key=lambda file: int(file.name))
    newest.write_text(newest.read_text().replace('partitions": "1"', 'partitions": "4"'))
    (odd,) = document("inspect", path)["odd"]
    assert odd == "Operator 0 has no files of the store default in the partitions 1-3."


def test_show_prints_the_newest_committed_state(path: Path) -> None:
    found = sorted(rows(path), key=str)
    assert found == [
        {"partition_id": 0, "key": {"k": 2}, "value": {"n": 20}},
        {"partition_id": 0, "key": {"k": 3}, "value": {"n": 31}},
        {"partition_id": 0, "key": {"k": 4}, "value": {"n": 40}},
    ]
    assert len(rows(path, "--batch-id", "0")) == 2
    assert len(rows(path, "--limit", "1")) == 1
    assert rows(path, "--limit", "0") == []
    table = output("show", path)
    assert '{"k": 2}' in table


def test_show_filters_by_key(path: Path) -> None:
    assert [found["value"]["n"] for found in rows(path, "--key", "k=3")] == [31]
    assert rows(path, "--key", "k=77") == []
    assert rows(path, "--key", "k=null") == []


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (["day=1969-12-30"], 1),
        (["ts=1970-01-01T00:00:00"], 0),
        (["ts=1969-12-31T21:15:23.456790"], 1),
        (["str=éé", "bin="], 0),
        (["bool=true"], 17),
        (["bool=true", "i8=-4"], 1),
        (["bool=null"], 6),
        (["st.b=12", "dec_small=-5.00"], 1),
        (["st.c.d=1"], None),
        (["i8=many"], None),
        (["missing=1"], None),
        (["st.unknown=1"], None),
        (["st=1"], None),
        (["ts=noon"], None),
    ],
)
def test_show_filters_by_every_type(filters: list[str], count: int | None) -> None:
    checkpoint = GOLDEN / "spark-4.3" / "typed_keys" / "checkpoint"
    options = [part for text in filters for part in ("--key", text)]
    if count is None:
        assert filters[-1].partition("=")[0].removeprefix("st.") in sentence(
            "show", checkpoint, *options
        )
    else:
        assert len(rows(checkpoint, *options)) == count


def test_every_type_can_be_printed(tmp_path: Path) -> None:
    found = rows(TYPED, "--key", "k=10")
    value = found[0]["value"]
    assert len(found) == 1
    assert list(value.values())[:3] == [10, True, None]
    assert {"months": 22, "days": 1, "microseconds": 18357250000} in value.values()
    assert {"a": 10, "b": "10", "c": {"d": [10, None, 11]}} in value.values()
    assert {"10": 5.0, "x": None} in value.values()
    assert {"-7.50", "-123456789012345670.000000"} <= {str(part) for part in value.values()}
    for form in ("csv", "parquet"):
        output("show", TYPED, "--format", form, "-o", tmp_path / form)
    with (tmp_path / "csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 11
    assert {json.loads(line["key"])["k"] for line in lines} == set(range(11))
    table = parquet.read_table(tmp_path / "parquet")
    assert table.column_names == ["partition_id", "key", "value"]
    assert table.num_rows == 11


def test_an_empty_store_has_its_columns_in_parquet(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "none.parquet"
    output("show", path, "--key", "k=77", "--format", "parquet", "-o", file)
    assert parquet.read_table(file).column_names == ["partition_id", "key", "value"]


def test_show_knows_join_sides() -> None:
    left = rows(JOIN, "--join-side", "left")
    assert len(left) == 39
    assert set(left[0]["key"]) == {"field0"}
    assert set(left[0]["value"]) == {"id", "k", "ts"}
    assert len(rows(JOIN, "--join-side", "left", "--partition", "0")) < len(left)
    assert len(rows(JOIN, "--store-name", "right-keyToNumValues")) == 5


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_show_says_on_standard_error_that_there_are_no_rows(path: Path, form: str) -> None:
    for options, words in (
        (("--key", "k=77"), "No rows: the state has none with this key.\n"),
        (("--partition", "0", "--batch-id", "2", "--key", "k=1"), "partition 0 has none with"),
        ((), ""),
        (("--limit", "0"), ""),
    ):
        result = run("show", path, "--format", form, *options)
        assert result.exit_code == 0
        assert words in result.stderr
        assert bool(words) == bool(result.stderr)
        assert "No rows" not in result.stdout


def test_show_says_that_a_store_has_no_schema_file(path: Path) -> None:
    assert not run("show", path).stderr
    (path / "state/0/0/_metadata/schema").unlink()
    told = run("show", path).stderr
    assert told.startswith(f"warning: {path}/state/0/0/_metadata/schema is gone: expected")
    assert told.endswith("and the types that the bytes of rows tell.\n")
    options = ("--key-schema", "k long", "--value-schema", "n long")
    assert not run("show", path, *options).stderr


def test_show_says_how_to_choose_a_store(path: Path) -> None:
    both = "holdfast show has the rows of a side, too, with --join-side (join_side in Python)."
    assert f"Choose one with --store-name (store_name in Python); {both}" in sentence("show", JOIN)
    assert "is no join but aggregation, and keeps no rows of a left or right side: leave" in (
        sentence("show", path, "--join-side", "left")
    )
    assert "Choose" not in sentence("show", JOIN, "--store-name", "other")
    assert "has no store '': it has default." in sentence("show", path, "--store-name", "")


def test_show_says_where_a_schema_that_is_given_is_not_that_of_the_file(path: Path) -> None:
    for key, value, said in (
        ("k bigint", "n bigint", ""),
        ("other long", "n bigint", ""),
        ("k timestamp", "n bigint", "The types of the key are given as (timestamp), and"),
        ("k bigint", "n double", "The types of the value are given as (double), and"),
    ):
        result = run("show", path, "--key-schema", key, "--value-schema", value)
        assert result.exit_code == 0
        assert said in result.stderr
        assert bool(said) == bool(result.stderr)
    assert f"{path}/state/0/0/_metadata/schema says (long): unless that is" in result.stderr
    assert not unlike_without_file(path)


def unlike_without_file(path: Path) -> str:
    (path / "state/0/0/_metadata/schema").unlink()
    return run("show", path, "--key-schema", "k double", "--value-schema", "n double").stderr


@pytest.mark.parametrize("form", ["table", "json", "csv", "parquet"])
def test_a_folder_that_is_not_there_is_told_with_the_file_that_was_named(
    path: Path, form: str
) -> None:
    file = path.parent / "nowhere" / "rows"
    assert sentence("show", path, "--format", form, "-o", file) == (
        f"Error: Cannot write {file}: No such file or directory.\n"
    )


def test_a_folder_near_a_checkpoint_is_told_where_it_is(path: Path) -> None:
    within = sentence("show", path / "state")
    assert f"found the folder state of the checkpoint {path}." in within
    assert f"found a folder with the checkpoint {path}." in sentence("show", path.parent)


def test_diff_tells_what_changed(path: Path) -> None:
    found = document("diff", path)
    assert (found["added"], found["changed"], found["removed"]) == (1, 1, 0)
    assert found["rows"] == [
        {"change": "added", "partition_id": 0, "key": {"k": 4}, "before": None, "after": {"n": 40}},
        {
            "change": "changed",
            "partition_id": 0,
            "key": {"k": 3},
            "before": {"n": 30},
            "after": {"n": 31},
        },
    ]
    assert output("diff", path, "--from-batch", "0", "--to-batch", "1") == (
        f"{path}: the state after batch 0, and after batch 1.\n"
        "Operator 0, aggregation (stateStoreSave), store default.\n"
        "  partition key value\n"
        '+ 0 {"k": 3} {"n": 30}\n- 0 {"k": 1} {"n": 10}\n1 added, 0 changed, 1 removed\n'
    )
    first = document("diff", path, "--to-batch", "0")
    assert (first["added"], first["from_batch"], first["to_batch"]) == (2, -1, 0)
    assert (first["operator_id"], first["operator_name"]) == (0, "stateStoreSave")
    assert (first["store_name"], first["path"]) == ("default", str(path))
    assert "the state before the first batch, and after batch 0." in (
        output("diff", path, "--to-batch", "0")
    )
    assert "  partition key value\n" not in output("diff", path, "--limit", "0")
    assert document("diff", path, "--limit", "0")["rows"] == []


def test_diff_compares_checkpoints(path: Path, tmp_path: Path) -> None:
    other = shutil.copytree(path, tmp_path / "other")
    (other / "state/0/0/3.delta").write_bytes(lz4(records([row(4, 41)])))
    found = document("diff", path, other)
    assert (found["added"], found["changed"], found["removed"]) == (0, 2, 0)
    assert output("diff", path, other).startswith(
        f"The state of {path} after batch 2, and of {other} after batch 2.\n"
    )
    unlike = sentence("diff", path, TYPED)
    assert "compared: the column k of the key is of the types long and integer." in unlike
    assert "Struct" not in unlike
    (other / "state/0/0/_metadata/schema").write_bytes(
        schema_file(schema_json(k="long"), schema_json(m="date", n="long"))
    )
    assert "the value has the columns (n) and (m, n)." in sentence("diff", path, other)
    shutil.copy(path / "state/0/0/_metadata/schema", other / "state/0/0/_metadata/schema")
    shutil.copytree(other / "state/0/0", other / "state/0/1")
    assert "1 partition and" in sentence("diff", path, other)


def test_verify_reads_everything(path: Path) -> None:
    found = document("verify", path)
    assert found["sound"]
    assert (found["files"], found["records"], found["broken"]) == (4, 8, [])
    assert found["stores"][0]["versions"] == "1-3"
    assert output("verify", path) == (
        "The query goes on with batch 3.\nRead: 4 state files with 8 records.\n"
    )


@pytest.mark.parametrize("folder", sorted(GOLDEN.glob("*/*/checkpoint")))
def test_verify_finds_spark_s_files_sound(folder: Path) -> None:
    found = json.loads(run("verify", folder, "--json").stdout)
    # What its file sources have read is not among the files here.
    assert {file["kind"] for file in found["broken"]} <= {"source"}
    assert all(store["recoverable"] for store in found["stores"])


@pytest.mark.parametrize(
    ("name", "versions", "recoverable"),
    [("1.delta", "2-3", True), ("3.delta", "1-2", False), ("2.snapshot", "1-3", True)],
)
def test_verify_names_what_is_broken(
    path: Path, name: str, versions: str, recoverable: bool
) -> None:
    file = path / "state/0/0" / name
    file.write_bytes(file.read_bytes()[:-30])
    result = run("verify", path, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert not found["sound"]
    (broken,) = found["broken"]
    assert broken["path"] == str(file)
    assert f"{name} (version {name[0]}) is damaged at byte" in broken["error"]
    (store,) = found["stores"]
    assert (store["versions"], store["recoverable"]) == (versions, recoverable)
    result = run("verify", path)
    assert f"store 0/0/default: versions {versions}" in result.stdout
    assert result.stderr.startswith(f"Error: {path} is damaged: 1 file is broken or gone,")


def test_verify_says_once_what_to_do_about_several_files(path: Path) -> None:
    for name in ("1.delta", "3.delta"):
        file = path / "state/0/0" / name
        file.write_bytes(file.read_bytes()[:-30])
    lines = run("verify", path).stdout.splitlines()
    advice = "Restore the file from a copy, or see what holdfast repair can do without it."
    assert [line for line in lines if advice in line] == [f"for 2 of them: {advice}"]
    found = json.loads(run("verify", path, "--json").stdout)["broken"]
    assert [broken for broken in found if broken["error"].endswith(advice)] == found


def test_verify_tells_a_batch_that_is_planned(path: Path) -> None:
    (path / "commits/2").unlink()
    assert "The query goes on with batch 2, which is planned already." in run("verify", path).stdout


def test_a_number_that_is_none_is_named(path: Path) -> None:
    assert "'many' is not a valid whole number." in (
        sentence("repartition", path, "--partitions", "many", code=2)
    )


def test_verify_misses_files_that_are_not_there(path: Path) -> None:
    (path / "state/0/0/3.delta").unlink()
    result = run("verify", path)
    assert result.exit_code == 1
    assert "versions 1-2, but not 3, which is needed" in result.stdout


def test_verify_checks_rows_by_their_schema(path: Path) -> None:
    (path / "state/0/0/3.delta").write_bytes(lz4(records([(long_row(1), bytes(8))])))
    result = run("verify", path)
    assert result.exit_code == 1
    assert "3.delta does not fit its schema" in result.stdout


def test_rows_of_rocksdb_are_left_to_spark(path: Path) -> None:
    (path / "state/0/0/1.zip").touch()
    assert "read its rows with Spark's statestore source" in sentence("show", path)


def test_a_table_says_that_there_are_more_rows(tmp_path: Path) -> None:
    for keys, more in ((20, False), (21, True)):
        versions = {"1.delta": [row(key, key) for key in range(keys)]}
        many = counts(tmp_path / str(keys), versions, batches=1)
        result = run("show", many)
        assert ("There are more than these 20 rows" in result.stderr) is more
        assert len(result.stdout.splitlines()) == len(
            run("show", many, "--limit", "20").stdout.splitlines()
        )


@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
def test_a_file_is_replaced_when_all_rows_are_read_and_not_before(
    form: str, path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "rows"
    file.write_text("as before")
    file.chmod(0o640)
    broken = path / "state/0/0/3.delta"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:-9])
    assert run("show", path, "--format", form, "-o", file).exit_code == 1
    assert file.read_text() == "as before"
    broken.write_bytes(whole)
    output("show", path, "--format", form, "-o", file)
    assert file.read_bytes() != b"as before"
    assert file.stat().st_mode & 0o777 == 0o640
    assert {entry.name for entry in tmp_path.iterdir()} == {"checkpoint", "rows"}


def test_who_reads_the_rows_may_stop(path: Path) -> None:
    command = [sys.executable, "-m", "holdfast_spark", "show", str(path), "--json"]
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as out:
        ended = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert not ended.stderr


@pytest.mark.parametrize("command", ["inspect", "show", "verify", "diff"])
def test_bad_input_is_one_sentence(command: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "missing", tmp_path / "folder", "ftps://x/y", "memory://nothing"):
        text = sentence(command, place)
        assert len(text.splitlines()) == 1
        assert text.startswith("Error: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        ["show", "x", "--format", "xml"],
        ["show", "x", "--format", "parquet"],
        ["show", "x", "--join-side", "left", "--store-name", "s"],
        ["show", "x", "--state-var-name", "a", "--key-schema", "a int", "--value-schema", "a int"],
        ["show", "x", "--batch-id", "-1"],
        ["show", "x", "--key", "k"],
        ["inspect", "x", "--storage-option", "y"],
        ["diff", "x", "--from-batch", "first"],
    ],
)
def test_wrong_usage_has_exit_code_2(arguments: list[str]) -> None:
    assert "Error: " in sentence(*arguments, code=2)


def test_urls_are_read_as_paths_are(path: Path) -> None:
    fs = fsspec.filesystem("memory")
    fs.put(str(path), "/url", recursive=True)
    assert len(rows("memory://url")) == 3
    assert document("inspect", "memory://url")["path"] == "memory:///url"
    assert document("verify", "memory://url")["sound"]
    assert document("diff", "memory://url")["added"] == 1
    assert document("diff", "memory://url", path)["added"] == 0
    fs.pipe_file("/url/state/0/0/2.snapshot", b"x")
    assert document("repair", "memory://url", "--settled", "0", "--apply")["applied"]
    assert len(rows("memory://url", "--batch-id", "1")) == 2
    copied = document("savepoint", "memory://url", "memory://copy", "--batch-id", "1")
    assert copied["path"] == "memory:///copy"
    assert document("migrate", "memory://copy", "--to", "holdfast", "--settled", "0", "--apply")[
        "applied"
    ]
    assert rows("memory://copy") == rows(path, "--batch-id", "1")
    fs.rm("/url", recursive=True)
    fs.rm("/copy", recursive=True)


def test_the_reference_is_that_of_the_commands() -> None:
    written = (ROOT / "docs" / "commands.md").read_text()
    assert written == reference(), "run python -m holdfast_spark.cli.reference > docs/commands.md"


def test_the_shape_of_every_json_document_is_documented() -> None:
    text = reference()
    for name, command in cli.main.commands.items():
        assert f"## holdfast {name}\n" in text
        if isinstance(command, CheckpointCommand) and command.name != "show":
            assert command.result


@pytest.mark.parametrize("command", ["show", "diff"])
def test_state_of_rocksdb_comes_with_the_advice_to_convert_it(command: str) -> None:
    folder = GOLDEN / "spark-4.3" / "rocksdb"
    migrate = "or switch the stopped query with holdfast migrate --to holdfast first"
    for name in ("sums", "column_families"):
        assert migrate in sentence(command, folder / name / "checkpoint")


def test_inspect_tells_what_can_be_done_with_files_of_rocksdb() -> None:
    folder = GOLDEN / "spark-4.3" / "rocksdb"
    for name in ("sums", "column_families"):
        found = document("inspect", folder / name / "checkpoint")
        assert "or holdfast migrate --to holdfast" in found["explanation"]

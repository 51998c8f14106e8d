"""`holdfast show`: rows of every type, in every form, into a file or a pipe."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from checkpoint.checkpoints import GOLDEN, counts, long_row, schema_file, schema_json
from checkpoint.commands.running import output, rows, run, sentence

TYPED = GOLDEN / "spark-4.3" / "typed" / "checkpoint"


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


def test_parquet_has_nulls_for_the_key_of_an_aggregation_of_all_rows(tmp_path: Path) -> None:
    path = counts(tmp_path / "c", {"1.delta": [(b"", long_row(4))]}, batches=1)
    schema = schema_file(schema_json(), schema_json(n="long"))
    (path / "state/0/0/_metadata/schema").write_bytes(schema)
    output("show", path, "--format", "parquet", "-o", tmp_path / "rows")
    (found,) = parquet.read_table(tmp_path / "rows").to_pylist()
    assert found == {"partition_id": 0, "key": None, "value": {"n": 4}}


@pytest.mark.parametrize("form", ["table", "json", "csv", "parquet"])
def test_a_folder_that_is_not_there_is_told_with_the_file_that_was_named(
    path: Path, form: str
) -> None:
    file = path.parent / "nowhere" / "rows"
    assert sentence("show", path, "--format", form, "-o", file) == (
        f"Error: Cannot write {file}: No such file or directory.\n"
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

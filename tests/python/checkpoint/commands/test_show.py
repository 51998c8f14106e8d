"""`holdfast show`: which rows there are, and what it says beside them."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest

from checkpoint.checkpoints import GOLDEN, counts, row, schema_file, schema_json
from checkpoint.commands.running import output, rows, run, sentence

JOIN = GOLDEN / "spark-4.3" / "join" / "checkpoint"


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


def test_show_finds_the_key_that_is_no_number(tmp_path: Path) -> None:
    keys = [struct.pack("<Qd", 0, number) for number in (math.nan, 1.5)]
    versions = {"1.delta": [(key, row(0, 7)[1]) for key in keys]}
    path = counts(tmp_path / "c", versions, batches=1)
    schema = schema_file(schema_json(k="double"), schema_json(n="long"))
    (path / "state/0/0/_metadata/schema").write_bytes(schema)
    (found,) = rows(path, "--key", "k=NaN")
    assert found["key"] == {"k": "NaN"}


def test_bytes_that_are_no_text_are_those_of_binaries_alone() -> None:
    checkpoint = GOLDEN / "spark-4.3" / "typed_keys" / "checkpoint"
    assert rows(checkpoint, "--key", "bin=\udcff") == []
    told = sentence("show", checkpoint, "--key", "str=\udcff")
    assert (
        told == "Error: The field str of the key is of type string, and \\udcff is no such value.\n"
    )


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


def test_a_folder_near_a_checkpoint_is_told_where_it_is(path: Path) -> None:
    within = sentence("show", path / "state")
    assert f"found the folder state of the checkpoint {path}." in within
    assert f"found a folder with the checkpoint {path}." in sentence("show", path.parent)


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

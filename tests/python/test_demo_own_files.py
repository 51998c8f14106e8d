"""What the demo makes of a folder with a user's own files, before Spark reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast_spark.demo.errors import DemoUsageError
from holdfast_spark.demo.own_files import OwnFiles, find_own_files


def find(folder: Path) -> OwnFiles:
    return find_own_files(folder, time="at", keys=("id",), window="1 hour", watermark="1 day")


def touch(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"),
        ("a.CSV.gz", "csv"),
        ("a.json", "json"),
        ("a.jsonl.zst", "json"),
        ("a.ndjson", "json"),
        ("part-0.snappy.parquet", "parquet"),
    ],
)
def test_the_format_is_told_by_the_name(tmp_path: Path, name: str, expected: str) -> None:
    assert find(touch(tmp_path, name)).format == expected


def test_a_few_bytes_are_read_in_brief_and_many_are_not(tmp_path: Path) -> None:
    with touch(tmp_path, "a.csv").joinpath("a.csv").open("wb") as file:
        file.write(b"at,id\n")
        file.flush()
        own = find(tmp_path)
        assert (own.size_bytes, own.brief) == (6, True)
        file.truncate(1 << 30)
        assert not find(tmp_path).brief


def test_hidden_and_other_files_do_not_count(tmp_path: Path) -> None:
    touch(tmp_path, "a.csv", "_SUCCESS", ".b.json.crc", "_temporary/c.json", "notes.txt")
    assert find(tmp_path).format == "csv"


def test_folders_are_looked_through_unless_they_are_partitions(tmp_path: Path) -> None:
    assert find(touch(tmp_path / "deep", "one/a.json")).nested
    assert not find(touch(tmp_path / "partitioned", "day=1/a.json")).nested


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ((), "holds no file that ends in .csv, .*, it is empty"),
        (("a.txt", "b.txt"), "holds no file that ends in .csv, .* among its 2 files"),
        (("a.csv", "b.json", "c.json"), r"mixes formats \(1 csv, 2 json\)"),
    ],
)
def test_a_folder_that_will_not_do_is_refused(
    tmp_path: Path, files: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(DemoUsageError, match=sentence):
        find(touch(tmp_path, *files))


def test_a_missing_folder_and_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DemoUsageError, match="does not exist"):
        find(tmp_path / "none")
    with pytest.raises(DemoUsageError, match=r"a\.csv is a file"):
        find(touch(tmp_path, "a.csv") / "a.csv")

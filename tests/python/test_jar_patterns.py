"""What class paths and lists of jars stand for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast_spark._class_paths import class_path, jar_list
from holdfast_spark._preparation import holdfast_jars
from holdfast_spark._setting_names import DRIVER_CLASS_PATH, JARS

OURS = "holdfast-spark_4.3_2.13-0.1.0.jar"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (OURS, "other.jar", "notes.txt", "UPPER.JAR"):
        (tmp_path / name).touch()
    return tmp_path


def test_a_folder_with_a_star_is_the_jars_in_it_as_in_java(folder: Path) -> None:
    value = os.pathsep.join(["/a/b.jar", f"{folder}/*", "/none/*", f"{folder}/other*"])
    assert class_path(value) == [
        "/a/b.jar",
        *(f"{folder}/{name}" for name in ("UPPER.JAR", OURS, "other.jar")),
        *("/none/*", f"{folder}/other*"),
    ]


def test_a_pattern_in_a_list_is_what_fits_it_here(folder: Path) -> None:
    value = f"a.jar, file:{folder}/h*.jar,{folder}/[no]*.jar,/none/*.jar,hdfs:///libs/*.jar"
    assert jar_list(value) == [
        "a.jar",
        f"{folder}/{OURS}",
        f"{folder}/other.jar",
        *("/none/*.jar", "hdfs:///libs/*.jar"),
    ]
    assert jar_list(None) == []


@pytest.mark.parametrize(
    ("setting", "pattern"), [(DRIVER_CLASS_PATH, "*"), (JARS, "*.jar"), (JARS, "holdfast-*")]
)
def test_a_jar_of_holdfast_is_found_by_a_pattern(setting: str, pattern: str, folder: Path) -> None:
    assert holdfast_jars({setting: f"{folder}/{pattern}"}, Path("/none")) == [f"{folder}/{OURS}"]

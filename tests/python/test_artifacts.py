"""What Holdfast's artifacts are called, and which one a jar is."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from holdfast_spark._artifacts import BUILD, Artifact, artifact_of

PROPERTIES = "version=0.2.0\nsparkLine=3.5\nsparkVersion=3.5.9\nscalaVersion=2.12.18\n"


@pytest.mark.parametrize(
    ("name", "line", "scala", "version"),
    [
        ("hdfs:///libs/holdfast-spark_4.3_2.13-0.1.0.jar", "4.3", "2.13", "0.1.0"),
        ("io.holdfast:holdfast-spark_3.5_2.12:0.2.0-SNAPSHOT", "3.5", "2.12", "0.2.0-SNAPSHOT"),
        ("/jars/holdfast-spark_4.10_2.13.jar", "4.10", "2.13", None),
        ("holdfast-spark_4.3_2.13-*.jar", "4.3", "2.13", None),
    ],
)
def test_the_name_says_what_a_jar_is(name: str, line: str, scala: str, version: str | None) -> None:
    assert artifact_of(name) == Artifact(line=line, scala=scala, version=version)


def test_what_has_another_name_is_another_thing() -> None:
    for name in ("org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0", "hdfs:///libs/state.jar"):
        assert artifact_of(name) is None


@pytest.mark.parametrize("scheme", ["", "file:", "file://", "local:", "local://"])
def test_a_file_says_it_under_any_name(tmp_path: Path, scheme: str) -> None:
    jar = tmp_path / "state.jar"
    assert artifact_of(f"{scheme}{jar}") is None
    with ZipFile(jar, "w") as archive:
        archive.writestr(BUILD, PROPERTIES)
    found = artifact_of(f"{scheme}{jar}")
    assert found == Artifact(line="3.5", scala="2.12", version="0.2.0")
    assert found.coordinates == "io.holdfast:holdfast-spark_3.5_2.12:0.2.0"


def test_other_files_are_none_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "state.jar"
    assert artifact_of(str(tmp_path)) is None
    for content in (b"", b"PK\x03\x04", b"words"):
        file.write_bytes(content)
        assert artifact_of(str(file)) is None
    for entry, text in (("other", ""), (BUILD, ""), (BUILD, "version=0.2.0\nsparkLine=3.5\n")):
        with ZipFile(file, "w") as archive:
            archive.writestr(entry, text)
        assert artifact_of(str(file)) is None

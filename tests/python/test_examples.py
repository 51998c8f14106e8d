"""The programs in `examples`: they run, and print what they say."""

from __future__ import annotations

import re

import pytest

from harness import ROOT, Spark
from holdfast_spark import _jars

FOLDER = ROOT / "examples"
PRINTED = {
    "windowed_counts": [
        "2030-01-01 10:00:00 home 3",
        "2030-01-01 10:00:00 shop 1",
        "2030-01-01 11:00:00 home 1",
        "2030-01-01 11:00:00 shop 1",
    ],
    "deduplicate_events": [
        "2030-01-01 10:00:00 event 1",
        "2030-01-01 10:01:00 event 2",
        "2030-01-01 10:10:00 event 3",
        "2030-01-01 11:00:00 event 4",
        "2030-01-01 11:05:00 event 3",
        "2 events in the state",
    ],
    "join_clicks": [
        "1 shown 2030-01-01 10:00:00 clicked 2030-01-01 10:04:00",
        "2 shown 2030-01-01 10:01:00 clicked 2030-01-01 10:03:00",
        "3 shown 2030-01-01 10:02:00 clicked None",
        "4 shown 2030-01-01 10:30:00 clicked 2030-01-01 10:31:00",
        "5 shown 2030-01-01 11:00:00 clicked 2030-01-01 11:01:00",
    ],
    "sessions": [
        "ann 2030-01-01 10:00:00 to 2030-01-01 10:50:00: 3",
        "ben 2030-01-01 10:05:00 to 2030-01-01 10:25:00: 1",
        "ben 2030-01-01 11:00:00 to 2030-01-01 11:20:00: 1",
    ],
    "switch_and_back": [
        "Spark's default provider: be 2, not 1, or 1, to 2",
        "Spark's default provider: be 2, is 1, not 1, or 1, question 1, that 1, the 1, to 2",
        "Holdfast: be 2, die 1, is 1, not 1, or 1, question 1, sleep 1, that 1, the 1, to 4",
        "Spark's default provider: be 2, die 1, is 1, more 1, no 1, not 1, or 1, question 1, "
        "sleep 1, that 1, the 1, to 4",
    ],
}

SINCE_4_1 = {
    "visits": ["ann looked at home, shop", "ben looked at shop", "cyd is looking at home"],
}


def test_the_page_of_the_examples_has_each_of_them() -> None:
    programs = {path.name for path in FOLDER.glob("*.py")}
    assert programs == {f"{name}.py" for name in (*PRINTED, *SINCE_4_1)}
    page = (FOLDER / "README.md").read_text()
    assert set(re.findall(r"\]\((\w+\.py)\)", page)) == programs


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("no_spark_settings")
def test_every_example_prints_its_result(spark: Spark) -> None:
    assert spark.python("run_examples.py", spark.folder, *PRINTED).result() == PRINTED


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("no_spark_settings")
@pytest.mark.since("4.1", "transformWithState of rows")
@pytest.mark.parametrize("name", SINCE_4_1)
def test_an_example_of_newer_sparks_prints_its_result(spark: Spark, name: str) -> None:
    done = spark.python(str(FOLDER / f"{name}.py"), spark.folder / name)
    assert done.code == 0, done.err
    assert done.out.splitlines()[-len(SINCE_4_1[name]) :] == SINCE_4_1[name]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("no_spark_settings")
def test_an_example_runs_by_spark_submit_as_its_page_says(spark: Spark) -> None:
    jar = _jars.jar_path(_jars.installed_spark_line())
    done = spark.submit("--jars", jar, FOLDER / "windowed_counts.py", spark.folder / "windows")
    assert done.code == 0, done.err
    expected = PRINTED["windowed_counts"]
    assert done.out.splitlines()[-len(expected) :] == expected  # warnings come before

"""PYSPARK_SUBMIT_ARGS that spark-submit does not take."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast_spark.doctor.submit_arguments import submit_findings

pytestmark = pytest.mark.usefixtures("no_spark_settings")


def told(arguments: str, monkeypatch: pytest.MonkeyPatch, line: str = "4.3") -> list[str]:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    findings = list(submit_findings(line))
    assert all(finding.stops and finding.about == "settings" for finding in findings)
    return [finding.error for finding in findings]


@pytest.mark.parametrize(
    "arguments",
    [
        "pyspark-shell",
        "--packages a:b:1 --conf=spark.a=b -c spark.c=d --verbose pyspark-shell",
        "--name '--no-option of mine' --supervise pyspark-shell",
        # What `configure` refuses.
        *("", "--pacakges x", "pyspark-shell --pacakges x", "--conf 'x pyspark-shell"),
    ],
)
def test_arguments_that_spark_takes_are_in_order(
    arguments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told(arguments, monkeypatch) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--pacakges x pyspark-shell", "--pacakges, which is no option of spark-submit: Spark"),
        ("--pacakges x pyspark-shell", "does not start. Write --packages, or leave it out."),
        ("--verbose --pacakges=x pyspark-shell", "has --pacakges=x, which is no option of"),
        ("--pacakges=x pyspark-shell", "Write --packages, or leave it out."),
        ("-x pyspark-shell", "Correct it, or leave it out."),
        ("--jars a.jar, b.jar pyspark-shell", "has 'b.jar' where an option or pyspark-shell is"),
        ("--jars a.jar, b.jar pyspark-shell", "Write lists without blanks, and a value that"),
        ("--packages pyspark-shell", "no value for --packages, which takes pyspark-shell in its"),
    ],
)
def test_what_spark_submit_stumbles_over_is_told(
    arguments: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (error,) = told(arguments, monkeypatch)
    assert error.startswith("PYSPARK_SUBMIT_ARGS has ")
    assert sentence in error


@pytest.mark.parametrize("option", ["--load-spark-defaults", "--extra-properties-file my.conf"])
def test_options_that_came_later_than_this_spark_are_told(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my.conf").touch()
    monkeypatch.chdir(tmp_path)
    assert told(f"{option} pyspark-shell", monkeypatch, "4.0") == []
    (error,) = told(f"{option} pyspark-shell", monkeypatch, "3.5")
    name = option.partition(" ")[0]
    assert error.startswith(
        f"PYSPARK_SUBMIT_ARGS has {name}, which spark-submit takes since Spark 4.0, "
        "and this is Spark 3.5: Spark does not start."
    )


def test_files_of_settings_that_are_not_there_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.conf").touch()
    names = "--properties-file lost.conf --properties-file there.conf"
    more = "--extra-properties-file there.conf --extra-properties-file gone.conf"
    assert told(f"{names} pyspark-shell", monkeypatch) == []
    (error,) = told(f"{names} {more} pyspark-shell", monkeypatch)
    assert error == (
        "PYSPARK_SUBMIT_ARGS names gone.conf as a file of settings, and there is no such file: "
        "Spark does not start. Correct the path, or leave it out."
    )

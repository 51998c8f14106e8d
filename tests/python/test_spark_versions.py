"""Who built a Spark, and which one is in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast_spark._jars import spark_line
from holdfast_spark._spark_versions import spark_in, vendor_of
from holdfast_spark.errors import NoJarForSparkLineError


@pytest.fixture(autouse=True)
def _no_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABRICKS_RUNTIME_VERSION", raising=False)


@pytest.mark.parametrize(
    "version",
    ["4.2.0", "3.5", "4.3.0.dev0", "4.0.0-rc1", "4.1.0-preview2", "4.1.0.dev4", "4.3.0-SNAPSHOT"],
)
def test_versions_of_apache_have_no_vendor(version: str) -> None:
    assert vendor_of(version) is None


@pytest.mark.parametrize(
    ("version", "vendor", "line"),
    [
        ("3.5.6-amzn-1", "Amazon EMR", "3.5"),
        ("3.5.6+amzn.1", "Amazon EMR", "3.5"),
        ("4.0.0-databricks-001", "Databricks", "4.0"),
        ("16.4.x-scala2.12", "Databricks", "16.4"),
        ("15.4", "Databricks", "15.4"),
        ("17.1.0", "Databricks", "17.1"),
        ("3.5.4.1.cdh7", "Cloudera", "3.5"),
        ("3.5.1.5.4.20240407", "a vendor", "3.5"),
    ],
)
def test_versions_of_vendors_are_known_by_their_form(version: str, vendor: str, line: str) -> None:
    assert vendor_of(version) == vendor
    assert spark_line(version) == line


def test_databricks_is_known_by_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABRICKS_RUNTIME_VERSION", "16.4")
    assert vendor_of("3.5.2") == "Databricks Runtime 16.4"


def test_a_line_that_a_vendor_counts_is_refused_with_its_name() -> None:
    error = NoJarForSparkLineError(line="16.4", available=["4.2", "4.3"], vendor="Databricks")
    assert str(error) == (
        "Holdfast has no jar for Spark 16.4, which is a version of Databricks; it has jars for "
        "Spark 4.2, 4.3: use Apache's pyspark of one of these lines."
    )


def test_the_spark_in_a_folder_is_told_by_its_core(tmp_path: Path) -> None:
    assert spark_in(tmp_path).version is None
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.12-3.5.6-amzn-1.jar").touch()
    (tmp_path / "jars" / "spark-sql_2.12-9.9.9.jar").touch()
    found = spark_in(tmp_path)
    assert (found.version, found.scala, found.vendor) == ("3.5.6-amzn-1", "2.12", "Amazon EMR")
    assert found.home == str(tmp_path)

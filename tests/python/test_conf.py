"""The templates in `conf/`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import ROOT, Spark, check_word_counts
from holdfast_spark import __version__, _jars
from holdfast_spark._launch_settings import read_properties

TEMPLATE = ROOT / "conf" / "spark-defaults.conf.template"


@pytest.mark.parametrize("path", [TEMPLATE])
def test_documents_name_jars_of_this_version(path: Path) -> None:
    versions = re.findall(r"holdfast-spark_[\d.]+_2\.13[-:](\d+\.\d+\.\d+)", path.read_text())
    assert set(versions) == {__version__}


def switched_on() -> str:
    """The template with its settings, as a user makes it."""
    return re.sub(r"^#(?=spark\.)", "", TEMPLATE.read_text(), flags=re.MULTILINE)


def test_the_template_sets_nothing_as_it_is_copied() -> None:
    assert read_properties(TEMPLATE) == {}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("no_spark_settings")
def test_the_template_switches_holdfast_on_and_the_log_is_quiet(
    spark: Spark,
) -> None:
    jar = _jars.jar_path(_jars.installed_spark_line())
    conf = spark.conf_folder(spark_defaults=f"{switched_on()}spark.jars {jar}\n")
    done = spark.python("count_words.py", spark.folder, SPARK_CONF_DIR=str(conf))
    result = done.result()
    check_word_counts(result)
    settings = read_properties(conf / "spark-defaults.conf")
    assert result["plugins"] == settings["spark.plugins"]
    assert result["extensions"] == settings["spark.sql.extensions"]
    assert result["file_manager"] == settings["spark.sql.streaming.checkpointFileManagerClass"]
    # The conf folder has the project's log4j2.properties beside the template.
    assert not re.search(r"\bINFO\b", done.err)
    assert "Using Spark's default log4j profile" not in done.err

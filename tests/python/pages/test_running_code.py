"""The code in pages runs, and the settings of Spark that pages name are Spark's."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import ROOT, Spark, is_since, search_path
from pages.markdown import blocks, pages

# What a machine with two cores sets.
DEFAULTS = """
spark.sql.shuffle.partitions                    2
spark.sql.streaming.checkpointFileManagerClass  io.holdfast.HoldfastCheckpointFileManager
spark.ui.enabled                                false
"""
# Where the app finds the modules of the tests.
MODULES = (str(ROOT / "tests" / "python"), str(ROOT / "python"))
# In this order: the later ones go on with what the first ones have made.
RUN = ("README.md", "docs/getting-started.md", "docs/switching.md", "docs/watching.md")
# An example with the checkpoint of a reader, signatures, and what other tests run (`changes`).
NOT_RUN = {ROOT / "python" / "README.md", ROOT / "docs" / "api.md", ROOT / "docs" / "changes.md"}


def test_every_page_with_python_is_run() -> None:
    with_code = {page for page in pages() if blocks(page, "python")}
    assert with_code - NOT_RUN == {ROOT / page for page in RUN}


def test_the_scala_of_the_readme_is_code_that_the_build_compiles() -> None:
    source = ROOT / "tests" / "jvm" / "spark" / "io" / "holdfast" / "ReadmeExample.scala"
    lines = [line.strip() for line in source.read_text().splitlines()]
    (block,) = blocks(ROOT / "README.md", "scala")
    imports, _, code = block.partition("\n\n")
    assert set(imports.splitlines()) <= set(lines)
    wanted = [line.strip() for line in code.splitlines()]
    start = lines.index(wanted[0])
    assert lines[start : start + len(wanted)] == wanted


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("no_spark_settings")
def test_python_runs_from_the_first_block_of_a_page_to_the_last(
    spark: Spark, tmp_path: Path
) -> None:
    files = [ROOT / page for page in RUN]
    conf = str(spark.conf_folder(spark_defaults=DEFAULTS))
    done = spark.python(
        "run_pages.py", tmp_path, *files, PYTHONPATH=search_path(*MODULES), SPARK_CONF_DIR=conf
    )
    result = done.result()
    assert result["ran"] == {file.name: len(blocks(file, "python")) for file in files}
    assert result["named"] > 10
    # Pages name what older lines have not.
    if is_since("4.3"):
        assert result["unknown"] == []

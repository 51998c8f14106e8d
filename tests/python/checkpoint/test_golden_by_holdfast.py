"""Checkpoints that the default providers of all Spark lines wrote, read by Holdfast of one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checkpoint.checkpoints import GOLDEN
from harness import SharedSpark
from holdfast_spark import _jars
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.files.providers import ROCKSDB

APP = Path(__file__).parent / "apps" / "read_golden.py"


def line_number(line: str) -> list[int]:
    return [int(part) for part in line.split(".")]


def readable(checkpoint: Checkpoint, line: str) -> bool:
    """Whether a query of a line has a checkpoint's kind of files by the settings it is bound to."""
    conf = checkpoint.settings.conf
    if checkpoint.settings.provider_class == ROCKSDB:
        return False
    # Checksums of rows came with 4.2; an id names an attempt, and the reader here asks by number.
    checked = conf.get("spark.sql.streaming.stateStore.rowChecksum.enabled") == "true"
    ids = any(store.has_unique_ids for store in checkpoint.stores)
    # A schema with it is one that Spark before 4.0 cannot read.
    variant = any('"variant"' in schema for schema in schemas(checkpoint))
    since = [4, 2] if checked else [4, 0] if variant else [0, 0]
    return not ids and line_number(line) >= since


def schemas(checkpoint: Checkpoint) -> Iterator[str]:
    for store in checkpoint.stores:
        schema = checkpoint.row_schema(store.operator_id, store_name=store.name)
        yield from (schema.key_json, schema.value_json)


@pytest.mark.spark
@pytest.mark.main_job
@pytest.mark.usefixtures("no_spark_settings")
def test_what_the_default_provider_of_any_line_wrote_is_read_by_holdfast(
    shared_spark: SharedSpark,
) -> None:
    line = _jars.installed_spark_line()
    folders = sorted(str(found) for found in GOLDEN.rglob("checkpoint") if found.is_dir())
    chosen = [path for path in folders if readable(Checkpoint.open(path), line)]
    found = shared_spark.python(str(APP), shared_spark.folder, *chosen).result()
    assert set(found) == set(chosen)
    assert all(found.values()), found
    lines = {Path(path).relative_to(GOLDEN).parts[0] for path in chosen}
    assert {"spark-3.5", "spark-4.0", "spark-4.1", "spark-4.2", "spark-4.3"} <= lines

"""`transformWithState` as a user has it, on each Spark line that has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness import Spark
from holdfast_spark.checkpoint import Checkpoint, read_rows, verify_checkpoint

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_spark_settings")]


def told_of(words: Sequence[str]) -> list[object]:
    """What the processor tells of the words of an initial so far."""
    return [len(words), [*words], dict(Counter(words))]


def state(folder: Path, name: str) -> list[tuple[Any, ...]]:
    rows = read_rows(Checkpoint.open(folder / "checkpoint"), state_var_name=name)
    return [tuple(row.values())[1:] for piece in rows for row in piece.to_pylist()]


@pytest.mark.main_job
@pytest.mark.since("4.0", "transformWithState")
def test_a_query_with_state_of_its_own_goes_on_and_its_state_is_read(spark: Spark) -> None:
    answer = spark.python("count_by_processor.py", spark.folder).result()
    words: dict[str, list[str]] = {}
    for text, told in zip(answer["files"], answer["told"], strict=True):
        for word in sorted(text.split()):
            words.setdefault(word[0], []).append(word)
        initials = {word[0] for word in text.split()}
        assert told == {initial: told_of(words[initial]) for initial in initials}

    checkpoint = Checkpoint.open(spark.folder / "checkpoint")
    assert checkpoint.settings.provider_class == "io.holdfast.HoldfastStateStoreProvider"
    assert verify_checkpoint(checkpoint).sound
    totals = {key["initial"]: value["n"] for key, value in state(spark.folder, "total")}
    assert totals == {initial: len(each) for initial, each in words.items()}
    kept = [(key["initial"], element["word"]) for key, element in state(spark.folder, "words")]
    assert sorted(kept) == sorted((word[0], word) for each in words.values() for word in each)

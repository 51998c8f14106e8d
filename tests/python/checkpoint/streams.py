"""The app `stateful_queries.py`, and its input: JSON files, one for each batch."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from harness import SharedSpark

APP = Path(__file__).parent / "apps" / "stateful_queries.py"

_ROWS = 60
_KEYS = ("ada", "bob", "", "céline", "dmitri " * 5, "eve", None)
_START = datetime(2024, 1, 1)


def write_inputs(folder: Path, numbers: Iterable[int]) -> None:
    """Write the files of these numbers for both sources, the same at every call."""
    for number in numbers:
        for seed, source in enumerate(("left", "right")):
            rng = random.Random(10 * number + seed)
            path = folder / source / f"{number}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{_row(rng, number)}\n" for _ in range(_ROWS)))
            # Spark reads the oldest file first.
            os.utime(path, (number, number))


@dataclass(frozen=True)
class StatefulQueries:
    """Some queries of the app, whose text says what the attributes mean."""

    spark: SharedSpark
    inputs: Path
    partitions: int
    names: str

    def run(self, provider: str, *folders: Path, read: str = "nothing") -> dict[str, Any]:
        """Run them to the end of their input in each folder; return what the app prints."""
        settings = (self.inputs, str(self.partitions), provider, self.names, read)
        return self.spark.python(str(APP), *settings, *folders).result()


def rows_in_order(output: dict[str, list[str]]) -> list[list[str]]:
    """The output of the batches that have any: a change of a checkpoint adds one without data."""
    return [output[batch] for batch in sorted(output, key=int) if output[batch]]


def _row(rng: random.Random, number: int) -> str:
    time = _START + timedelta(minutes=30 * number, seconds=rng.randrange(1800))
    value = rng.choice((None, *range(-9, 9)))
    return json.dumps({"k": rng.choice(_KEYS), "t": time.isoformat(sep=" "), "v": value})

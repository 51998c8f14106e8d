"""The input of the queries: small JSON files, one for each batch.

Event time moves on by an hour a file, so that watermarks advance and state is evicted in every
batch. Some rows are late, some have nulls, and keys come again within a file and later.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES = 5
"""Files of each source; every query reads one file in a batch."""

_ROWS = 50
_KEYS = ("ada", "bob", "", "céline", "dmitri " * 5, "eve", "fred", "gus", None)
_START = datetime(2024, 1, 1)
_SCHEMA = "k string, t timestamp, v long"


@dataclass(frozen=True, slots=True)
class Inputs:
    """The sources as a query reads them."""

    spark: SparkSession
    folder: Path

    def plain(self, source: str = "left") -> DataFrame:
        """The rows of a source, `left` or `right`, without a watermark."""
        reader = self.spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.json(str(self.folder / source))

    def timed(self, source: str = "left", delay: str = "30 minutes") -> DataFrame:
        """The same with a watermark on `t`."""
        return self.plain(source).withWatermark("t", delay)


def write_inputs(folder: Path) -> None:
    """Write the files of both sources, the same at every call."""
    for seed, source in enumerate(("left", "right")):
        (folder / source).mkdir(parents=True)
        rng = random.Random(seed)
        for hour in range(FILES):
            path = folder / source / f"{hour}.json"
            path.write_text("\n".join(json.dumps(row) for row in _rows(rng, hour)) + "\n")
            # Spark reads the oldest file first.
            os.utime(path, (hour, hour))


def _rows(rng: random.Random, hour: int) -> Iterator[dict[str, Any]]:
    for number in range(_ROWS):
        late = rng.randrange(1, 4) if rng.random() < 0.1 else 0
        time = _START + timedelta(hours=hour - late, seconds=rng.randrange(3600))
        row = {
            "k": rng.choice(_KEYS),
            "t": None if rng.random() < 0.03 else time.isoformat(sep=" "),
            "v": None if rng.random() < 0.05 else rng.randrange(-50, 50),
        }
        yield row
        if number % 10 == 0:
            yield row

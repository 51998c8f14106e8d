"""What Spark's `statestore` source reads from checkpoints that older Sparks have made.

    PYTHONPATH=tests/python read_old_state.py OUT CHECKPOINT ...

Writes to the file OUT, as JSON, for each checkpoint a list of [source options, rows] of all its
stores after the newest committed batch, rows as `make_checkpoints.py` has them; where the source
fails, the text of its error in their place.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from checkpoint.apps.statestore_rows import read_store


def main(out: Path, *checkpoints: str) -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    found = {
        path: [_read(spark, Path(path), options) for options in _stores(Path(path))]
        for path in checkpoints
    }
    out.write_text(json.dumps(found))
    spark.stop()


def _stores(checkpoint: Path) -> Iterator[dict[str, str]]:
    """Yield the options that choose each store."""
    batches = [int(file.name) for file in checkpoint.glob("commits/[0-9]*")]
    newest = {"batchId": str(max(batches))} if batches else {}
    for operator in sorted(p.name for p in (checkpoint / "state").iterdir() if p.name.isdecimal()):
        folders = (p for p in (checkpoint / "state" / operator / "0").iterdir() if p.is_dir())
        names = sorted(p.name for p in folders if not p.name.startswith("_")) or ["default"]
        for name in names:
            yield {**newest, "operatorId": operator, "storeName": name}


def _read(spark: SparkSession, checkpoint: Path, options: dict[str, str]) -> Any:  # noqa: ANN401
    try:
        return read_store(spark, checkpoint, options)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return options, str(error)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

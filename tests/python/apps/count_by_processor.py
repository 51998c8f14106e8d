"""A query with state of its own, which is stopped twice; prints what each batch told as JSON.

    count_by_processor.py FOLDER

FOLDER takes the input and the checkpoint. The session is made by `holdfast.configure`. Each run of
the query reads one more file of words.
"""

# Names of methods are Spark's.
# ruff: noqa: N802, N803, ARG002

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

import holdfast_spark as holdfast

FILES = ("to be or not to be", "that is the question whether tis nobler", "to be to suffer")


class Counting(StatefulProcessor):
    """Counts words by their initials: how many, which and in which order they came."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._total = handle.getValueState("total", "n long")
        self._words = handle.getListState("words", "word string")
        self._times = handle.getMapState("times", "word string", "n long")

    def handleInputRows(
        self, key: tuple[str, ...], rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        words = sorted(word for frame in rows for word in frame["word"])
        (total,) = self._total.get() or (0,)
        self._total.update((total + len(words),))
        self._words.appendList([(word,) for word in words])
        for word in words:
            (times,) = self._times.getValue((word,)) or (0,)
            self._times.updateValue((word,), (times + 1,))
        told = [word for (word,) in self._words.get()]
        times = {word: n for (word,), (n,) in self._times.iterator()}
        answer = json.dumps([total + len(words), told, times], sort_keys=True)
        yield pd.DataFrame({"initial": [key[0]], "told": [answer]})

    def close(self) -> None:
        pass


def main(folder: Path) -> None:
    source = folder / "words"
    source.mkdir(parents=True)
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
    )
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()
    told: list[dict[str, object]] = []

    def keep(batch: DataFrame, _: int) -> None:
        told.append({row["initial"]: json.loads(row["told"]) for row in batch.collect()})

    for number, text in enumerate(FILES):
        (source / f"{number}.txt").write_text("\n".join(text.split()))
        words = spark.readStream.text(str(source)).selectExpr(
            "value as word", "substr(value, 1, 1) as initial"
        )
        query = (
            words.groupBy("initial")
            .transformWithStateInPandas(Counting(), "initial string, told string", "update", "none")
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .foreachBatch(keep)
            .start()
        )
        query.awaitTermination()
    spark.stop()
    print(json.dumps({"files": FILES, "told": told}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

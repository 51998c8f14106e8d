"""Switch a query from Spark's default provider to Holdfast and back, and lose nothing of its state.

Run it with `python examples/switch_and_back.py`, or with
`spark-submit --jars $(holdfast jar) examples/switch_and_back.py`. A folder may follow, which is
made and keeps data, checkpoint and result; without one a temporary folder is used.
"""

from __future__ import annotations

import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import holdfast_spark as holdfast
from holdfast_spark.checkpoint import Checkpoint, migrate, verify_checkpoint
from holdfast_spark.metrics import progress_metrics

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
SPARKS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"


def run(spark: SparkSession, folder: Path, words: str) -> None:
    """Give the query some words, let it count all that there are, and print what it has now."""
    source = folder / "words"
    source.mkdir(parents=True, exist_ok=True)
    (source / f"{len(list(source.iterdir()))}.txt").write_text("\n".join(words.split()))
    counted: dict[str, int] = {}

    def keep(batch: DataFrame, _: int) -> None:
        counted.update({row["value"]: row["count"] for row in batch.collect()})

    query = (
        spark.readStream.text(str(source))
        .groupBy("value")
        .count()
        .writeStream.outputMode("complete")
        .foreachBatch(keep)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    metrics = progress_metrics(query)
    assert metrics is not None
    name = "Holdfast" if metrics.operators[0].is_holdfast else "Spark's default provider"
    counts = ", ".join(f"{word} {count}" for word, count in sorted(counted.items()))
    print(f"{name}: {counts}")


def switch(checkpoint: Path, to: str) -> None:
    """Bind the stopped query to another provider, after a look at what is there."""
    assert verify_checkpoint(Checkpoint.open(checkpoint)).goes_on
    # It ended a moment ago, as this process knows; otherwise a minute has to have passed.
    migrate(Checkpoint.open(checkpoint), to, apply=True, settled=timedelta(0))


def main(folder: Path) -> None:
    """Count words with one provider, then with the other, then with the first again."""
    builder = SparkSession.builder.appName("switch and back")
    builder.config("spark.sql.shuffle.partitions", "2")
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()

    # A query that began before there was Holdfast.
    spark.conf.set(PROVIDER, SPARKS)
    run(spark, folder, "to be or not to be")

    # The session's setting does nothing for it: its checkpoint says what it keeps its state in.
    spark.conf.set(PROVIDER, "io.holdfast.HoldfastStateStoreProvider")
    run(spark, folder, "that is the question")

    switch(folder / "checkpoint", "holdfast")
    run(spark, folder, "to die to sleep")

    switch(folder / "checkpoint", "hdfs")
    run(spark, folder, "no more")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))

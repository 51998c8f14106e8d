"""A small stateful query; prints as JSON where the metrics of its stores can be seen.

    show_metrics.py FOLDER

FOLDER takes input and checkpoint. The answer has what the provider announces, what the progress of
each batch says, what `holdfast_spark.metrics` makes of it, and what the UI's SQL tab shows.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import holdfast_spark as holdfast
from holdfast_spark.metrics import progress_metrics, store_metrics

# The milliseconds that a slow machine may take.
LONG = 600_000
BATCHES = ("to be or not to be", "that is the question", "to be")


def start_spark() -> SparkSession:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.port", "0")
        .config("spark.sql.shuffle.partitions", "2")
        # Every progress is that of a batch.
        .config("spark.sql.streaming.noDataProgressEventInterval", "1h")
    )
    return holdfast.configure(builder, local_checkpoints=True).getOrCreate()


def announced(spark: SparkSession) -> dict[str, str]:
    """What the custom metrics of the provider are called in the UI, by name."""
    assert spark._jvm is not None
    metrics = spark._jvm.io.holdfast.HoldfastStateStoreProvider().supportedCustomMetrics()
    return {metric.name(): metric.desc() for metric in elements(metrics)}


def elements(of: JavaObject) -> list[JavaObject]:
    return [of.apply(number) for number in range(of.size())]


def in_sql_tab(spark: SparkSession) -> list[dict[str, str]]:
    """What the nodes of state stores that have run show there."""
    context = spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty(LONG)
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/sql?length=1000"
    with urllib.request.urlopen(address) as answer:  # noqa: S310 - the session's own
        executions: list[dict[str, Any]] = json.load(answer)
    return [
        {metric["name"]: metric["value"] for metric in node["metrics"]}
        for execution in executions
        for node in execution["nodes"]
        if node["nodeName"] == "StateStoreSave" and node["metrics"]
    ]


def main(folder: Path) -> None:
    source = folder / "words"
    source.mkdir(parents=True)
    spark = start_spark()
    words = spark.readStream.text(str(source)).groupBy("value").agg(F.count("*"))
    query = (
        words.writeStream.outputMode("update")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .format("noop")
        .start()
    )
    for number, text in enumerate(BATCHES):
        (source / f"{number}.txt").write_text("\n".join(text.split()))
        query.processAllAvailable()
    typed = progress_metrics(query)
    assert typed is not None
    answer = {
        "announced": announced(spark),
        # A dictionary alone before Spark 4.0.
        "progress": [
            json.loads(getattr(progress, "json", None) or json.dumps(progress))
            for progress in query.recentProgress
        ],
        "typed": dataclasses.asdict(typed.operators[0]),
        "stores": [dataclasses.asdict(store) for store in store_metrics(spark)],
        "ui": in_sql_tab(spark),
    }
    query.stop()
    spark.stop()
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

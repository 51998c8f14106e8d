"""Runs queries with every kind of state to the end of their input; prints what they wrote as JSON.

    stateful_queries.py INPUTS PARTITIONS PROVIDER QUERY[,QUERY...] READ FOLDER ...

READ is `state`, or `nothing` of what the queries leave. PROVIDER is `spark`, `holdfast`,
`holdfast_with_ids` or `rocksdb_with_ids`, the latter two with checkpoint format 2.

The sources are the JSON files in `INPUTS/left` and `INPUTS/right`, one for each batch. Each query
runs once for each folder, with the checkpoint `FOLDER/<query>`; `all` stands for all of them. Those
that this Spark cannot run with checkpoint format 2 are left out there.
Printed is by folder and query: the sorted rows of each batch in this run; and of the state the
sorted rows without their partitions, as Spark's `statestore` source reads them, and the numbers of
partitions in its `state-metadata`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

import holdfast_spark as holdfast
from checkpoint.apps.spark_classes import SPARK
from holdfast_spark.checkpoint.files.logs import DEFAULT_PROVIDER
from holdfast_spark.checkpoint.files.providers import ROCKSDB

SCHEMA = "k string, t timestamp, v long"


@dataclass(frozen=True)
class Inputs:
    """The sources."""

    spark: SparkSession
    folder: Path

    def rows(self, source: str = "left") -> DataFrame:
        reader = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.json(str(self.folder / source)).withWatermark("t", "10 minutes")


def by_key(inputs: Inputs) -> DataFrame:
    keys = ("k", F.expr("v % 4 as m"), F.expr("cast(v as decimal(30, 2)) / 8 as d"), "v")
    return inputs.rows().groupBy(*keys).agg(F.count("*"), F.max("t"))


def counts(inputs: Inputs) -> DataFrame:
    rows = inputs.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    keys = rows.json(str(inputs.folder / "left")).groupBy("k", "v")
    return keys.agg(F.count("*").alias("rows"), F.max("t").alias("last"))


def windows(inputs: Inputs) -> DataFrame:
    return inputs.rows().groupBy(F.window("t", "20 minutes"), "k").agg(F.count("*"), F.sum("v"))


def all_rows(inputs: Inputs) -> DataFrame:
    return inputs.rows().groupBy().agg(F.count("*"), F.sum("v"))


def distinct(inputs: Inputs) -> DataFrame:
    parts = F.expr("named_struct('k', k, 'a', array(v, v % 3)) as st")
    return inputs.rows().select("t", parts, F.expr("v / 7 as x")).dropDuplicates()


def distinct_for_a_while(inputs: Inputs) -> DataFrame:
    return inputs.rows().dropDuplicatesWithinWatermark(["k", "v"])


def sessions(inputs: Inputs) -> DataFrame:
    return inputs.rows().groupBy(F.session_window("t", "2 minutes"), "k").agg(F.count("*"))


def joined(inputs: Inputs) -> DataFrame:
    return _joined(inputs, "inner")


def outer_joined(inputs: Inputs) -> DataFrame:
    return _joined(inputs, "left_outer")


def windows_of_join(inputs: Inputs) -> DataFrame:
    pairs = _joined(inputs, "inner").select("l.k", "l.t", F.col("r.v").alias("v"))
    return pairs.groupBy(F.window("t", "30 minutes"), "k").agg(F.count("*"), F.sum("v"))


def limited(inputs: Inputs) -> DataFrame:
    return inputs.rows().select("v").limit(150)


def tallied(inputs: Inputs) -> DataFrame:
    keys = inputs.rows().withColumn("m", F.expr("v % 5")).groupBy("k", "m")
    state = "rows long, sum long"
    output = f"k string, m long, {state}"
    return keys.applyInPandasWithState(_tally, output, state, "update", GroupStateTimeout.NoTimeout)


def _joined(inputs: Inputs, kind: str) -> DataFrame:
    left, right = inputs.rows("left").alias("l"), inputs.rows("right").alias("r")
    near = "l.k = r.k and l.v % 9 = r.v % 9 and l.t between r.t - interval 8 minutes and r.t"
    return left.join(right, F.expr(near), kind)


def _tally(
    key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    rows, total = state.get if state.exists else (0, 0)
    for frame in frames:
        rows += len(frame)
        total += int(frame["v"].sum())
    state.update((rows, total))
    yield pd.DataFrame({"k": [key[0]], "m": [key[1]], "rows": [rows], "sum": [total]})


QUERIES: dict[str, tuple[Callable[[Inputs], DataFrame], str]] = {
    "aggregation": (by_key, "update"),
    "counts": (counts, "update"),
    "windows": (windows, "append"),
    "global": (all_rows, "update"),
    "distinct": (distinct, "append"),
    "distinct_for_a_while": (distinct_for_a_while, "append"),
    "sessions": (sessions, "append"),
    "join": (joined, "append"),
    "outer_join": (outer_joined, "append"),
    "several": (windows_of_join, "append"),
    "limit": (limited, "append"),
    "pandas": (tallied, "update"),
}

# With checkpoint format 2, Spark 4.0 fails in a check of its own where an operator has one
# partition and others have more, whatever the provider
# (`StateStoreWriter.getStateStoreCheckpointInfo`).
IN_ONE_PARTITION = {"global", "limit"}


def main(
    inputs: Path, partitions: str, provider: str, names: str, read: str, *folders: str
) -> None:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", partitions)
        .config("spark.sql.session.timeZone", "UTC")
        # No snapshots but those that the tests make.
        .config("spark.sql.streaming.stateStore.maintenanceInterval", "1h")
        # Compiling takes longer than running for so few rows.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    )
    holdfast.configure(builder, local_checkpoints=True)
    if provider == "spark":
        builder.config("spark.sql.streaming.stateStore.providerClass", DEFAULT_PROVIDER)
    if provider.endswith("_with_ids"):
        builder.config("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    if provider.startswith("rocksdb"):
        builder.config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
        changelogs = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
        builder.config(changelogs, "true")
    spark = builder.getOrCreate()
    chosen = list(QUERIES) if names == "all" else names.split(",")
    if provider.endswith("_with_ids") and SPARK < (4, 1):
        chosen = [name for name in chosen if name not in IN_ONE_PARTITION]
    source = Inputs(spark, inputs)
    found = {
        folder: {name: _run(source, name, Path(folder) / name) for name in chosen}
        for folder in folders
    }
    if read == "state":
        for folder, results in found.items():
            for name, result in results.items():
                result.update(_left(spark, Path(folder) / name))
    spark.stop()
    print(json.dumps(found))


def _run(inputs: Inputs, name: str, checkpoint: Path) -> dict[str, Any]:
    query, mode = QUERIES[name]
    output: dict[int, list[str]] = {}

    def keep(batch: DataFrame, batch_id: int) -> None:
        output[batch_id] = sorted(str(row) for row in batch.collect())

    writer = query(inputs).writeStream.outputMode(mode)
    writer = writer.option("checkpointLocation", str(checkpoint)).foreachBatch(keep)
    writer.trigger(availableNow=True).start().awaitTermination()
    return {"output": output}


def _left(spark: SparkSession, checkpoint: Path) -> dict[str, Any]:
    """What a query left in its checkpoint."""
    stores = spark.read.format("state-metadata").load(str(checkpoint)).collect()
    state = {
        f"{store.operatorId}/{store.stateStoreName}": _state(spark, checkpoint, store)
        for store in stores
    }
    return {"state": state, "partitions": [store.numPartitions for store in stores]}


def _state(spark: SparkSession, checkpoint: Path, store: Any) -> list[str]:  # noqa: ANN401
    options = {"operatorId": store.operatorId, "storeName": store.stateStoreName}
    rows = spark.read.format("statestore").options(**options).load(str(checkpoint)).collect()
    return sorted(f"{row.key} {row.value}" for row in rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

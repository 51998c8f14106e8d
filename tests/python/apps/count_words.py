"""A small stateful streaming query; prints as JSON what it counted and what its state was kept in.

    count_words.py FOLDER [--configure] [SETTING=VALUE ...]

FOLDER takes the input and the checkpoint. With --configure the session is made by
`holdfast.configure`, else by settings alone.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count

import holdfast_spark as holdfast
from holdfast_spark.metrics import progress_metrics, store_metrics

FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
WORDS = "to be or not to be that is the question"


def main(folder: Path, *options: str) -> None:
    source = folder / "words"
    source.mkdir(parents=True)
    (source / "1.txt").write_text("\n".join(WORDS.split()))
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
    )
    if "--configure" in options:
        holdfast.configure(builder, local_checkpoints=True)
    for setting in options:
        name, equals, value = setting.partition("=")
        if equals:
            builder.config(name, value)
    spark = builder.getOrCreate()

    counted: dict[str, int] = {}

    def keep(batch: DataFrame, _: int) -> None:
        counted.update({row["value"]: row["times"] for row in batch.collect()})

    query = (
        spark.readStream.text(str(source))
        .groupBy("value")
        .agg(count("*").alias("times"))
        .writeStream.outputMode("update")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .foreachBatch(keep)
        .start()
    )
    query.awaitTermination()
    progress = progress_metrics(query)
    assert progress is not None
    answer = {
        "counted": counted,
        "package": holdfast.__file__,
        "spark": spark.version,
        "jars": spark.sparkContext._jsc.sc().listJars().mkString(",").split(","),
        "plugins": spark.conf.get("spark.plugins", ""),
        "extensions": spark.conf.get("spark.sql.extensions", ""),
        "file_manager": spark.conf.get(FILE_MANAGER, ""),
        "operator": dataclasses.asdict(progress.operators[0]),
        "stores": [dataclasses.asdict(store) for store in store_metrics(spark)],
    }
    spark.stop()
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

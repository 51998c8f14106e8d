"""A stateful streaming query on two executor processes, one of which is killed within a batch.

    lose_executor.py FOLDER

FOLDER takes input and checkpoints. The query runs on Spark's default provider, undisturbed, and on
Holdfast. There an executor is killed with SIGKILL in the middle of a batch: when one of the two
partitions has been written, by the executor that wrote it. The batch goes on when the driver knows:
a task that asks the lost executor for rows fails, and Spark counts nothing of what such a task did,
not even that it loaded its store. Prints as JSON, by provider, what each batch wrote and what it
reported.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import holdfast_spark as holdfast

PROVIDERS = {
    "spark": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "holdfast": "io.holdfast.HoldfastStateStoreProvider",
}
BATCHES = 5
KILLED_IN = 2
DEADLINE_SECONDS = 120.0
POLL_SECONDS = 0.02


def start_spark() -> SparkSession:
    builder = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        # The first batch waits for both executors, so that each of them keeps a store.
        .config("spark.cores.max", "2")
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .config("spark.scheduler.maxRegisteredResourcesWaitingTime", "5m")
        # A task goes where its store is loaded, as long as there is such a place.
        .config("spark.locality.wait", "20s")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
    )
    return holdfast.configure(builder, local_checkpoints=True).getOrCreate()


def write_input(folder: Path) -> None:
    folder.mkdir(parents=True)
    for batch in range(BATCHES):
        words = [f"word {number * number % (7 + batch)}" for number in range(40)]
        path = folder / f"{batch}.txt"
        path.write_text("\n".join(words))
        # Spark reads the oldest file first.
        os.utime(path, (batch, batch))


@dataclass(frozen=True)
class Run:
    """A run of the query on a provider."""

    spark: SparkSession
    folder: Path
    provider: str
    output: dict[int, list[list[str]]]

    def to_the_end(self) -> dict[str, object]:
        self.spark.conf.set(
            "spark.sql.streaming.stateStore.providerClass", PROVIDERS[self.provider]
        )
        query = (
            self.spark.readStream.option("maxFilesPerTrigger", 1)
            .text(str(self.folder / "input"))
            .groupBy("value")
            .agg(F.count("*").alias("times"))
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(self.folder / self.provider))
            .trigger(availableNow=True)
            .foreachBatch(self.keep)
            .start()
        )
        query.awaitTermination()
        return {
            "output": self.output,
            # A dictionary alone before Spark 4.0.
            "progress": [
                json.loads(getattr(progress, "json", None) or json.dumps(progress))
                for progress in query.recentProgress
            ],
        }

    def keep(self, batch: DataFrame, batch_id: int) -> None:
        if self.provider == "holdfast" and batch_id == KILLED_IN:
            before = executors(self.spark)
            kill(first_partition(batch))
            wait_until(lambda: not before <= executors(self.spark))
        rows = [[str(row["value"]), str(row["times"])] for row in batch.collect()]
        self.output[batch_id] = sorted(rows)


def first_partition(batch: DataFrame) -> int:
    """Run the first partition of a batch alone; return the process id of its executor."""

    def process_of_executor(rows: Iterable[Row]) -> list[int]:
        for _ in rows:
            pass
        # The Python worker is a child of a daemon that is a child of the executor.
        return [parent_of(os.getppid())]

    return batch.sparkSession.sparkContext.runJob(batch.rdd, process_of_executor, [0])[0]


def executors(spark: SparkSession) -> set[str]:
    """The addresses of the executors, and of the driver, that the driver takes to be there."""
    status = spark.sparkContext._jsc.sc().getExecutorMemoryStatus()
    return set(status.keySet().mkString(" ").split())


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the driver does not notice that an executor is lost")
        time.sleep(POLL_SECONDS)


def parent_of(process: int) -> int:
    return int(shown_by_ps("ppid", process))


def kill(process: int) -> None:
    command = shown_by_ps("args", process)
    assert "CoarseGrainedExecutorBackend" in command, command
    os.kill(process, signal.SIGKILL)


def shown_by_ps(column: str, process: int) -> str:
    command = ["ps", "-ww", "-o", f"{column}=", "-p", str(process)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(folder: Path) -> None:
    write_input(folder / "input")
    spark = start_spark()
    answer = {
        provider: Run(spark, folder, provider, output={}).to_the_end() for provider in PROVIDERS
    }
    spark.stop()
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

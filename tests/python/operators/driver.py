"""A driver process: runs the queries of a stage and holds them where it will be killed.

    python -m operators.driver STAGE FOLDER CASE ...

It prints `plan.ARRIVED` when it may be killed, and waits for that or for the end of its parent.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import holdfast_spark as holdfast
from operators import plan
from operators.cases import CASES, Case
from operators.plan import Layout
from operators.readings import Checkpoint
from operators.run import Run, write_json

_AT_ONCE = 2


def _start_spark() -> SparkSession:
    state_store = "spark.sql.streaming.stateStore"
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.sql.shuffle.partitions", plan.PARTITIONS)
        .config("spark.sql.session.timeZone", "UTC")
        # Compiling takes longer than running for so few rows.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config(f"{state_store}.minDeltasForSnapshot", plan.MIN_DELTAS_FOR_SNAPSHOT)
        .config(f"{state_store}.maintenanceInterval", "200ms")
    )
    return holdfast.configure(builder, local_checkpoints=True).getOrCreate()


def _runs(stage: str, layout: Layout, cases: list[Case]) -> list[Run]:
    held_at = {plan.TORN: plan.TORN_BATCH, plan.WRITTEN: plan.WRITTEN_BATCH}.get(stage)
    return [Run(case, _provider(stage), layout, held_at) for case in cases]


def _provider(stage: str) -> str:
    return plan.SPARK if stage == plan.BY_SPARK else plan.HOLDFAST


def _read(spark: SparkSession, layout: Layout, case: Case, provider: str) -> None:
    checkpoint = Checkpoint(spark, layout.checkpoint(case.name, provider), case)
    write_json(layout.readings(case.name, provider), checkpoint.read())


def _each(action: Callable[..., None], arguments: Iterable[tuple[Any, ...]]) -> None:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for done in [pool.submit(action, *each) for each in arguments]:
            done.result()


def main(stage: str, folder: str, *names: str) -> None:
    """Run the queries of a stage; after the last one, read the checkpoints."""
    layout = Layout(Path(folder))
    cases = [CASES[name] for name in names]
    spark = _start_spark()
    _each(Run.until_held_or_ended, ((run, spark) for run in _runs(stage, layout, cases)))
    if stage in (plan.BY_SPARK, plan.ENDED):
        _each(_read, ((spark, layout, case, _provider(stage)) for case in cases))
    sys.stdout.write(f"{plan.ARRIVED}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])

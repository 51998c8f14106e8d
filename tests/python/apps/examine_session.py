"""Examines sessions that run: one without Holdfast, one that is configured, one set otherwise."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from typing import Any

from pyspark.sql import SparkSession

import holdfast_spark as holdfast
from holdfast_spark.doctor import examine


def found() -> dict[str, Any]:
    return dataclasses.asdict(examine())


def builder() -> SparkSession.Builder:
    return SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")


def without_holdfast() -> dict[str, Any]:
    builder().getOrCreate()
    try:
        holdfast.configure(SparkSession.builder)
    except holdfast.HoldfastError as e:
        return {**found(), "error": str(e)}
    return found()


def main() -> None:
    # Its JVM has no jar of Holdfast, and lives as long as its Python.
    first = subprocess.run(
        [sys.executable, __file__, "without"], check=True, capture_output=True, text=True
    )
    session = holdfast.configure(builder()).getOrCreate()
    answer = {"before": json.loads(first.stdout.splitlines()[-1]), "configured": found()}
    session.conf.set("spark.sql.streaming.stateStore.holdfast.memoryLimit", "900g")
    answer["changed"] = found()
    session.stop()
    print(json.dumps(answer))


if __name__ == "__main__":
    if sys.argv[1:] == ["without"]:
        print(json.dumps(without_holdfast()))
    else:
        main()

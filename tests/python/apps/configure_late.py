"""Configures a session that runs already without Holdfast, and the JVM that it leaves."""

from __future__ import annotations

import json
from collections.abc import Callable

from pyspark.sql import SparkSession

import holdfast_spark as holdfast
from holdfast_spark.metrics import store_metrics


def error_of(action: Callable[[], object]) -> tuple[str, str]:
    """The class and the sentence of the error that an action raises."""
    try:
        action()
    except holdfast.HoldfastError as e:
        return type(e).__name__, str(e)
    return "none", ""


def main() -> None:
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.extensions", "my.Extensions")
        .getOrCreate()
    )
    answer = {
        "running": error_of(lambda: holdfast.configure(SparkSession.builder)),
        "metrics": error_of(lambda: store_metrics(spark)),
    }
    spark.stop()
    answer["stopped"] = error_of(lambda: holdfast.configure(SparkSession.builder))
    print(json.dumps(answer))


if __name__ == "__main__":
    main()

"""Configures a session, the running session, and one in the JVM that the first one left."""

from __future__ import annotations

import json

from pyspark.sql import SparkSession

import holdfast_spark as holdfast
from holdfast_spark.metrics import store_metrics


def start() -> SparkSession:
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    return holdfast.configure(builder).getOrCreate()


def main() -> None:
    first = start()
    assert start() is first
    first.stop()
    second = start()
    answer = {
        "provider": second.conf.get("spark.sql.streaming.stateStore.providerClass"),
        "plugins": second.conf.get("spark.plugins"),
        "stores": len(store_metrics()),
    }
    second.stop()
    print(json.dumps(answer))


if __name__ == "__main__":
    main()

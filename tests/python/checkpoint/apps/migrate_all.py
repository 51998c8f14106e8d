"""Switches stopped queries to other providers, all in one session; prints their providers as JSON.

migrate_all.py CHECKPOINT=PROVIDER ...
"""

from __future__ import annotations

import json
import sys
from datetime import timedelta

from pyspark.sql import SparkSession

import holdfast_spark as holdfast
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate


def main(*switches: str) -> None:
    builder = SparkSession.Builder().master("local[1]").config("spark.ui.enabled", "false")
    spark = holdfast.configure(builder).getOrCreate()
    providers = {}
    for path, _, to in (switch.partition("=") for switch in switches):
        done = migrate(Checkpoint.open(path), to, apply=True, stopped=True, settled=timedelta(0))
        assert done.applied, path
        assert done.converted_stores, path
        providers[path] = Checkpoint.open(path).settings.provider_class
    spark.stop()
    print(json.dumps(providers))


if __name__ == "__main__":
    main(*sys.argv[1:])

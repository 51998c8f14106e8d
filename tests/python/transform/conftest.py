"""These tests need the pyspark of a line that has the client, and what Spark's own needs."""

from __future__ import annotations

import importlib

from holdfast_spark._jars import spark_line
from holdfast_spark.transform._lines import LINES

try:
    importlib.import_module("google.protobuf")
    line = spark_line(importlib.import_module("pyspark").__version__)
except ImportError:
    line = None
if line not in LINES:
    collect_ignore_glob = ["test_*.py"]

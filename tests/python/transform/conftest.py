"""These tests need the pyspark of a line that has the client, and what Spark's own needs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from holdfast_spark._jars import spark_line
from holdfast_spark.transform._lines import LINES

if TYPE_CHECKING:
    from transform.fake_server import FakeServer

try:
    importlib.import_module("google.protobuf")
    line = spark_line(importlib.import_module("pyspark").__version__)
except ImportError:
    line = ""
if line not in LINES:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def new_server() -> Iterator[Callable[[], FakeServer]]:
    """Makes state servers, whose grouping key is a number."""
    from transform.fake_server import FakeServer
    from transform.test_client import KEY

    made: list[FakeServer] = []

    def new() -> FakeServer:
        made.append(FakeServer(KEY))
        return made[-1]

    yield new
    for server in made:
        server.close()

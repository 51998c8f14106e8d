"""Whole tasks in Spark's Python worker, with the pipelined client and with Spark's."""

from __future__ import annotations

import datetime
import importlib
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.streaming.stateful_processor_util import TransformWithStateInPandasUdfUtils
from pyspark.sql.types import LongType, StringType, StructField, StructType

from holdfast_spark.transform import installation
from holdfast_spark.transform._processor import PipelinedTransform
from transform import worker
from transform.fake_server import FakeServer
from transform.test_client import Anything, batches_of, groups_of

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:The copy keyword"),  # pyspark, of pandas
]

OUT = StructType([StructField("key", LongType()), StructField("seen", LongType())])
SEEN = StructType([StructField("key", LongType()), StructField("seen", StringType())])


@pytest.fixture(autouse=True)
def _travelling() -> None:
    # Here is the worker too, so Spark's class keeps its name.
    installation.with_client(Shown(1), "none")


class InFrames(Anything):
    """Does the same with frames."""

    def handleInputRows(self, key: Any, rows: Any, times: Any) -> Iterator[pd.DataFrame]:
        numbers = [number for frame in rows for number in frame["n"]]
        yield from framed(self.act(key, numbers, f"{self._seed} {key}"))

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[pd.DataFrame]:
        yield from framed(super().handleExpiredTimer(key, timerValues, expiredTimerInfo))


def framed(rows: Iterator[Row]) -> Iterator[pd.DataFrame]:
    for row in rows:
        yield pd.DataFrame({"seen": [row.seen], "key": [row.key]})


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_task_returns_what_it_returns_with_sparks_client(
    seed: int,
    frames: bool,
    new_server: Callable[[], FakeServer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processor = (InFrames if frames else Anything)(seed)
    found = []
    for kind in (TransformWithStateInPandasUdfUtils, PipelinedTransform):
        if kind is PipelinedTransform:  # which is given whole batches
            monkeypatch.delattr(TransformWithStateInPandasUdfUtils, "_handle_data_rows")
        server = new_server()
        found.append(
            worker.run(
                kind(processor, "processingTime").transformWithStateUDF,
                server.client,
                batches=batches_of(groups_of(seed)),
                schema=OUT,
                frames=frames,
                monkeypatch=monkeypatch,
            )
        )
        server.join()
    assert found[0] == found[1]
    assert found[0]


class Begun(Anything):
    """Begins with what is in the initial state."""

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:
        is_frame = isinstance(initialState, pd.DataFrame)
        number = initialState["n"].iloc[0] if is_frame else initialState.n
        self.value.update((int(number),))


class BegunInFrames(Begun, InFrames):
    """Does the same with frames."""


@pytest.mark.parametrize("frames", [False, True])
def test_initial_state_is_left_to_spark(
    frames: bool, new_server: Callable[[], FakeServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    processor = (BegunInFrames if frames else Begun)(3)
    found, kept = [], []
    for kind in (TransformWithStateInPandasUdfUtils, PipelinedTransform):
        server = new_server()
        found.append(
            worker.run(
                kind(processor, "processingTime").transformWithStateWithInitStateUDF,
                server.client,
                batches=[
                    *(of_two(1, batch) for batch in batches_of([(n, [n]) for n in range(70, 90)])),
                    *(of_two(0, batch) for batch in batches_of(groups_of(3))),
                ],
                schema=OUT,
                frames=frames,
                monkeypatch=monkeypatch,
            )
        )
        server.join()
        kept.append(server.rows("value"))
    assert found[0] == found[1]
    assert kept[0] == kept[1]


def of_two(filled: int, batch: pa.RecordBatch) -> pa.RecordBatch:
    rows = pa.StructArray.from_arrays(batch.columns, batch.schema.names)
    columns = [pa.nulls(len(rows), rows.type)] * 2
    columns[filled] = rows
    return pa.RecordBatch.from_arrays(columns, ["inputData", "initState"])


class Shown(Anything):
    """Returns what it is given, as text."""

    def handleInputRows(self, key: Any, rows: Any, times: Any) -> Iterator[Any]:
        for row in rows:
            if isinstance(row, pd.DataFrame):
                kinds = ", ".join(f"{name} {kind}" for name, kind in row.dtypes.items())
                seen = f"{key!r} {list(row.index)} {kinds} {row.to_dict('list')}"
                yield pd.DataFrame({"key": [1], "seen": [seen]})
            else:
                yield Row(key=1, seen=f"{key!r} {row!r} {list(row.asDict())}")

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Any:
        return iter(())


def mixed_batches() -> Iterator[pa.RecordBatch]:
    chance = random.Random(7)

    def maybe(value: Any) -> Any:
        return None if chance.random() < 0.2 else value

    for at in range(4):
        keys = sorted(chance.choices(range(at * 5, at * 5 + 6), k=20))
        columns = {
            "key": pa.array(keys, pa.int64()),
            "small": pa.array([maybe(chance.randrange(9)) for _ in keys], pa.int32()),
            "whole": pa.array([chance.randrange(2**60, 2**61) for _ in keys], pa.int64()),
            "half": pa.array([maybe(chance.random()) for _ in keys], pa.float32()),
            "text": pa.array([maybe(f"t{key}") for key in keys], pa.string()),
            "flag": pa.array([maybe(chance.random() < 0.5) for _ in keys], pa.bool_()),
            "day": pa.array([maybe(datetime.date(2024, 1, 1 + key)) for key in keys]),
            "at": pa.array(
                [maybe(datetime.datetime(2024, 1, 1, key)) for key in keys],
                pa.timestamp("us", tz="UTC"),
            ),
            "list": pa.array([maybe([key, 2]) for key in keys], pa.list_(pa.int64())),
            "pair": pa.array([maybe({"a": key}) for key in keys]),
        }
        yield pa.RecordBatch.from_pydict(columns)


@pytest.mark.parametrize("frames", [False, True])
def test_handlers_get_what_spark_gives_them(
    frames: bool, new_server: Callable[[], FakeServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for kind in (TransformWithStateInPandasUdfUtils, PipelinedTransform):
        found.append(
            worker.run(
                kind(Shown(1), "none").transformWithStateUDF,
                new_server().client,
                batches=mixed_batches(),
                schema=SEEN,
                frames=frames,
                monkeypatch=monkeypatch,
            )
        )
    assert found[0] == found[1]


def test_it_is_put_in_place_and_taken_out() -> None:
    util: Any = importlib.import_module("pyspark.sql.streaming.stateful_processor_util")
    original = util.TransformWithStateInPandasUdfUtils
    for _ in range(2):
        assert installation.install()
        assert util.TransformWithStateInPandasUdfUtils is installation.with_client
        made = util.TransformWithStateInPandasUdfUtils(Shown(1), "none")
        assert isinstance(made, PipelinedTransform)
    for _ in range(2):
        installation.remove()
        assert util.TransformWithStateInPandasUdfUtils is original


def test_other_lines_keep_sparks_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "installed_spark_version", lambda: "9.9.0")
    assert not installation.install()


def test_a_worker_needs_no_package() -> None:
    transform = PipelinedTransform(cast(Any, StatefulProcessor), "none").transformWithStateUDF
    command = importlib.import_module("pyspark.cloudpickle").dumps(transform)
    code = (
        "import pickle, sys; "
        "found = pickle.load(sys.stdin.buffer); "
        "print(type(found.__self__).__name__, [n for n in sys.modules if 'holdfast' in n])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        input=command,
        capture_output=True,
        check=True,
        env={
            "PYTHONPATH": os.pathsep.join(
                str(Path(str(m.__file__)).parents[1]) for m in (pyspark, pa)
            )
        },
    )
    assert done.stdout.decode().strip() == "PipelinedTransform []"

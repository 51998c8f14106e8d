"""What handlers are given, and find, where keys, nulls and settings are out of the ordinary."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.streaming.stateful_processor_util import TransformWithStateInPandasUdfUtils

from holdfast_spark.transform import installation
from holdfast_spark.transform._processor import PipelinedTransform
from transform import worker
from transform.fake_server import FakeServer
from transform.test_client import USER_KEY, VALUE
from transform.test_worker import SEEN, Shown

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:The copy keyword"),  # pyspark, of pandas
]

ROWS, FRAMES = False, True


@pytest.fixture(autouse=True)
def _travelling() -> None:
    # Here is the worker too, so Spark's class keeps its name.
    installation.with_client(Shown(1), "none")


@pytest.fixture
def seen(
    new_server: Callable[[], FakeServer], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[str]]:
    """Returns what a processor saw with the one client, as with the other."""

    def run(
        processor: StatefulProcessor,
        batches: list[pa.RecordBatch],
        *,
        frames: bool,
        **settings: str,
    ) -> list[str]:
        by_spark, found = (
            worker.run(
                kind(processor, "none").transformWithStateUDF,
                new_server().client,
                batches=batches,
                schema=SEEN,
                frames=frames,
                monkeypatch=monkeypatch,
                settings=settings,
            )
            for kind in (TransformWithStateInPandasUdfUtils, PipelinedTransform)
        )
        assert found == by_spark
        return [row["seen"] for row in found]

    return run


class Counting(StatefulProcessor):
    """Counts the rows of a key in a value, a list and a map."""

    def init(self, handle: Any) -> None:
        self.value = handle.getValueState("value", VALUE)
        self.list = handle.getListState("list", VALUE)
        self.map = handle.getMapState("map", USER_KEY, VALUE)

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Any]:
        count, row = 0, None
        for row in rows:
            count += len(row) if isinstance(row, pd.DataFrame) else 1
        old = self.value.get()
        kept = self.map.getValue((1,))
        seen = (
            f"{key} {old} {len(list(self.list.get()))} {kept and kept[0]} {list(self.map.keys())}"
        )
        self.value.update(((old[0] if old else 0) + count,))
        self.list.appendValue((count,))
        self.map.updateValue((1,), ((kept[0] if kept else 0) + count,))
        if isinstance(row, pd.DataFrame):
            yield pd.DataFrame({"key": [1], "seen": [seen]})
        else:
            yield Row(key=1, seen=seen)


@pytest.mark.parametrize("frames", [ROWS, FRAMES])
def test_a_key_that_comes_again_finds_what_its_handlers_before_left(
    frames: bool, seen: Callable[..., list[str]]
) -> None:
    # Each NaN is a group; the numbers come again near, in the next window, and far away.
    keys = [*map(float, range(60)), *[math.nan] * 90, *map(float, range(40, 50)), 7.0, math.nan]
    found = seen(
        Counting(),
        [pa.RecordBatch.from_pydict({"key": part}) for part in (keys[:130], keys[130:])],
        frames=frames,
    )
    assert found[-1].startswith("(nan,) (90,) 90 90")
    assert found[-2].startswith("(7.0,) (1,) 1 1")


class ShownKinds(StatefulProcessor):
    """Returns the types of frames, and what arithmetic makes of their flags."""

    def init(self, handle: Any) -> None:
        pass

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Any]:
        for frame in rows:
            whole = frame["flag"].notna().all()
            seen = f"{key} {len(frame)} {list(map(str, frame.dtypes))} "
            seen += f"{list(~frame['flag']) if whole else ''} {frame.to_dict('list')}"
            yield pd.DataFrame({"key": [1], "seen": [seen]})


@pytest.mark.parametrize("extended", ["false", "true"])
def test_a_frame_has_the_types_of_its_own_rows(
    extended: str, seen: Callable[..., list[str]]
) -> None:
    keys = [1, 1, 2, 2, 3, 3, 4, 4]
    columns: dict[str, pa.Array] = {
        "key": pa.array(keys),
        "flag": pa.array([None, True, True, False, True, True, None, None]),
        "number": pa.array([1, 2, 3, 4, None, 6, 7, 8], pa.int32()),
        "text": pa.array(["a", None, "b", "c", None, None, "d", "e"]),
    }
    setting = {"spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype": extended}
    found = seen(ShownKinds(), [pa.RecordBatch.from_pydict(columns)], frames=FRAMES, **setting)
    assert "'bool'" in found[1]


@pytest.mark.parametrize("most_bytes", [1, 100, 500, 2000])
@pytest.mark.parametrize("most_rows", [1000, 7])
def test_frames_are_as_large_as_sparks(
    most_bytes: int, most_rows: int, seen: Callable[..., list[str]]
) -> None:
    keys = [1] * 30 + [2] * 5 + [3] * 41 + [4]
    texts = ["x" * (at % 23) for at in range(len(keys))]
    found = seen(
        ShownKinds(),
        [
            pa.RecordBatch.from_pydict(
                {"key": keys[at : at + 20], "flag": [True] * len(part), "text": part}
            )
            for at, part in ((at, texts[at : at + 20]) for at in range(0, len(keys), 20))
        ],
        frames=FRAMES,
        **{
            "spark.sql.execution.arrow.maxBytesPerBatch": str(most_bytes),
            "spark.sql.execution.arrow.maxRecordsPerBatch": str(most_rows),
        },
    )
    assert len(found) >= 4


class GoingOn(StatefulProcessor):
    """Goes on with iterators over nothing that have ended, after something has come."""

    def init(self, handle: Any) -> None:
        self.list = handle.getListState("list", VALUE)
        self.map = handle.getMapState("map", USER_KEY, VALUE)

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Row]:
        for known in (False, True):
            if known:
                self.list.clear()
                self.map.clear()
            iterators = (self.list.get(), self.map.iterator(), self.map.keys(), self.map.values())
            ended = [next(each, None) for each in iterators]
            self.list.appendValue((1,))
            self.map.updateValue((1,), (1,))
            yield Row(key=1, seen=f"{key} {ended} {[list(each) for each in iterators]}")


def test_an_iterator_that_has_ended_stays_so(seen: Callable[..., list[str]]) -> None:
    found = seen(GoingOn(), [pa.RecordBatch.from_pydict({"key": list(range(50))})], frames=ROWS)
    assert found[-1].endswith("[None, None, None, None] [[], [], [], []]")


class Mixed(StatefulProcessor):
    """Returns numbers, and text that becomes numbers, in frames whose types are the same."""

    def init(self, handle: Any) -> None:
        pass

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Any]:
        number = pd.Series([12 if key[0] % 3 else "12"], dtype=object)
        yield pd.DataFrame({"key": number, "seen": str(key)})


def test_frames_are_converted_as_if_each_were_alone(seen: Callable[..., list[str]]) -> None:
    found = seen(Mixed(), [pa.RecordBatch.from_pydict({"key": list(range(9))})], frames=FRAMES)
    assert len(found) == 9

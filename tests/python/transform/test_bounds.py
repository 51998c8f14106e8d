"""What the client keeps of a key is bounded, however much of its state a handler asks and changes.

What there is no room for is asked for when it is needed: no call finds anything else.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.streaming.stateful_processor_util import TransformWithStateInPandasUdfUtils

from holdfast_spark.transform import _ahead, _client, _states
from transform.fake_server import FakeServer
from transform.test_client import (
    USER_KEY,
    VALUE,
    Anything,
    batches_of,
    by_spark,
    groups_of,
    run,
    states,
)

pytestmark = pytest.mark.spark


class ManyEntries(StatefulProcessor):
    """Does with each row something that is handed in, and sees what its client keeps."""

    def __init__(self, act: Callable[[Any, int], object]) -> None:
        self._act = act
        self.kept: list[dict[Any, Any]] = []
        self.most: dict[str, int] = {}

    def init(self, handle: Any) -> None:
        self.client = handle._client
        self.list = handle.getListState("list", VALUE)
        self.map = handle.getMapState("map", USER_KEY, VALUE)

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Row]:
        for row in rows:
            self._act(self, row.n)
            if row.n % 500 == 0:
                self._look()
        self._look()
        self.kept.append(self.client._held)
        return iter(())

    def _look(self) -> None:
        client = self.client
        now = {
            "held": sum(len(v) if isinstance(v, list) else 1 for v in client._held.values()),
            "asked": len(client.asked),
            "user keys": len(client.asked_user_keys),
            "of keys before": sum(map(len, self.kept)),
        }
        self.most = {name: max(count, self.most.get(name, 0)) for name, count in now.items()}


def leave_room(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the client keep so many entries.

    Where classes have travelled to a worker that is this process, their functions look for names no
    longer in the modules.
    """
    for function in (
        _client.PipelinedApiClient.held,
        _client.PipelinedApiClient.hold,
        _states.PipelinedListState.append_value,
        _ahead.Ahead._through.__globals__["_count"],
    ):
        monkeypatch.setitem(function.__globals__, "MOST_KEPT", most)


ACTS: dict[str, tuple[int, Callable[[Any, int], object]]] = {
    "updates": (200_000, lambda p, n: p.map.updateValue((n,), (n,))),
    "updates and removals": (
        200_000,
        lambda p, n: (p.map.updateValue((n,), (n,)), p.map.removeKey((n + 1,))),
    ),
    "reads": (20_000, lambda p, n: p.map.getValue((n,))),
    "appends": (200_000, lambda p, n: p.list.appendValue((n,)) if n else p.list.clear()),
}


@pytest.mark.parametrize("act", ACTS)
def test_what_is_kept_of_a_large_key_is_bounded(
    act: str, new_server: Callable[[], FakeServer]
) -> None:
    rows, call = ACTS[act]
    processor = ManyEntries(call)
    numbers = range(rows)
    batches = [
        pa.RecordBatch.from_pydict({"key": [1] * 10_000, "n": numbers[at : at + 10_000]})
        for at in range(0, rows, 10_000)
    ]
    server = new_server()
    run(processor, server, batches)
    assert processor.most["held"] <= _client.MOST_KEPT + 2
    assert processor.most["asked"] <= _client.MOST_KEPT + 2
    assert processor.most["user keys"] <= 4
    server.join()


def test_nothing_is_kept_of_the_keys_before(new_server: Callable[[], FakeServer]) -> None:
    processor = ManyEntries(lambda p, n: (p.map.getValue((n,)), p.map.updateValue((n,), (n,))))
    server = new_server()
    keys = [key for key in range(300) for _ in range(10)]
    run(processor, server, [pa.RecordBatch.from_pydict({"key": keys, "n": range(len(keys))})])
    assert processor.most["held"] > 0
    assert processor.most["of keys before"] == 0
    server.join()


def test_no_more_reads_are_learned_from_than_are_kept(
    new_server: Callable[[], FakeServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_room(50, monkeypatch)
    counted: list[int] = []
    adapt = _ahead.Ahead._adapt

    def counting(ahead: Any, asked: Any, *sizes: int) -> None:
        counted.append(len(asked))
        adapt(ahead, asked, *sizes)

    monkeypatch.setattr(_ahead.Ahead, "_adapt", counting)
    server = new_server()
    # No column of the rows has these, so that they are not derived from rows.
    processor = ManyEntries(lambda p, n: p.map.containsKey((-n,)))
    keys = [key for key in range(100) for _ in range(30)]
    run(processor, server, [pa.RecordBatch.from_pydict({"key": keys, "n": range(1, 3001)})])
    assert max(counted) == 50
    server.join()


@pytest.mark.parametrize("most", [0, 1, 3])
@pytest.mark.parametrize("seed", range(12))
def test_each_call_finds_the_same_where_there_is_no_room(
    seed: int, most: int, new_server: Callable[[], FakeServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_room(most, monkeypatch)
    groups = groups_of(seed)
    chance = random.Random(seed)
    groups = [(key, [*numbers, *chance.choices(range(9), k=6)]) for key, numbers in groups]
    spark, whole = new_server(), new_server()
    utils = TransformWithStateInPandasUdfUtils(Anything(seed), "processingTime")
    wanted = by_spark(utils.transformWithStateUDF, spark.client, groups)
    assert run(Anything(seed), whole, batches_of(groups)) == wanted
    assert states(spark) == states(whole)

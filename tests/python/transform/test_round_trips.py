"""How often a task waits for its state server, in the table of docs/tuning.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.streaming.stateful_processor_util import TransformWithStateInPandasUdfUtils

from transform.fake_server import FakeServer
from transform.test_client import USER_KEY, VALUE, by_spark, run

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[3] / "docs" / "tuning.md"
KEYS = 1000
CALLS: dict[str, Callable[[Any, int], object]] = {
    "`get` and `update` of a value": lambda p, n: (p.value.get(), p.value.update((n,))),
    "`exists` of a value": lambda p, n: p.value.exists(),
    "`update` of a value": lambda p, n: p.value.update((n,)),
    "`clear` of a value": lambda p, n: p.value.clear(),
    "`get` of a list": lambda p, n: list(p.list.get()),
    "`get` and `appendValue` of a list": lambda p, n: (
        list(p.list.get()),
        p.list.appendValue((n,)),
    ),
    "`appendList` of a list": lambda p, n: p.list.appendList([(n,), (n,)]),
    "`put` of a list": lambda p, n: p.list.put([(n,)]),
    "`getValue` and `updateValue` of a map, the key from the row": lambda p, n: (
        p.map.getValue((n,)),
        p.map.updateValue((n,), (n,)),
    ),
    "`containsKey` of a map, always the same key": lambda p, n: p.map.containsKey((-1,)),
    "`removeKey` of a map": lambda p, n: p.map.removeKey((n,)),
    "`iterator` of a map": lambda p, n: list(p.map.iterator()),
    "`keys` of a map": lambda p, n: list(p.map.keys()),
    "`registerTimer`": lambda p, n: p.handle.registerTimer(10_000 + n),
    "`update` and `get` of a value, in this order": lambda p, n: (
        p.value.update((n,)),
        p.value.get(),
    ),
}


class Calling(StatefulProcessor):
    """Makes one call for each key."""

    def __init__(self, call: str) -> None:
        self._call = call

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.value = handle.getValueState("value", VALUE)
        self.list = handle.getListState("list", VALUE)
        self.map = handle.getMapState("map", USER_KEY, VALUE)

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Row]:
        for row in rows:
            CALLS[self._call](self, row.n)
        return iter(())


def with_sparks(call: str, server: FakeServer) -> int:
    udf = TransformWithStateInPandasUdfUtils(Calling(call), "none").transformWithStateUDF
    assert by_spark(udf, server.client, [(key, [(key * 5 + 3) % 7]) for key in range(KEYS)]) == []
    return sum(server.calls.values())


def with_holdfasts(call: str, server: FakeServer) -> int:
    numbers = [(key * 5 + 3) % 7 for key in range(KEYS)]
    run(Calling(call), server, [pa.RecordBatch.from_pydict({"key": range(KEYS), "n": numbers})])
    client = vars(server.client)["holdfast"]
    return int(client.asked_live + server.calls["bulk.read"])


def test_the_page_says_how_often_a_task_waits(new_server: Callable[[], FakeServer]) -> None:
    found = {
        call: (with_sparks(call, new_server()), with_holdfasts(call, new_server()))
        for call in CALLS
    }
    table = re.findall(r"^\| (`.*) \| ([\d,]+) \| ([\d,]+) \|$", PAGE.read_text(), re.MULTILINE)
    said = {call: (number(sparks), number(holdfasts)) for call, sparks, holdfasts in table}
    wanted = [f"| {call} | {a:,} | {b:,} |" for call, (a, b) in found.items()]
    assert said == found, "\n".join(["docs/tuning.md needs:", *wanted])


def number(text: str) -> int:
    return int(text.replace(",", ""))

"""The pipelined client beside Spark's, on a state server in Python."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyspark.sql.streaming.proto.StateMessage_pb2 as messages
import pytest
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.streaming.stateful_processor_util import (
    TransformWithStateInPandasFuncMode as Mode,
)
from pyspark.sql.streaming.stateful_processor_util import TransformWithStateInPandasUdfUtils
from pyspark.sql.types import LongType, StringType, StructField, StructType

from holdfast_spark.transform._groups import Groups
from holdfast_spark.transform._processor import PipelinedTransform
from holdfast_spark.transform._rows import RowForm, RowOutput
from holdfast_spark.transform._stream import StateStream
from transform.fake_server import FakeServer

pytestmark = pytest.mark.spark


def longs(*names: str) -> StructType:
    return StructType([StructField(name, LongType()) for name in names])


KEY, VALUE, USER_KEY, OUT = longs("key"), longs("n"), longs("k"), longs("key", "seen")


class Anything(StatefulProcessor):
    """Does what the random numbers of its key say with a value, a list and a map."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.value = handle.getValueState("value", VALUE)
        self.list = handle.getListState("list", VALUE)
        self.map = handle.getMapState("map", USER_KEY, VALUE)

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Row]:
        yield from self.act(key, [row[1] for row in rows], f"{self._seed} {key}")

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        at = expiredTimerInfo.getExpiryTimeInMs()
        yield from self.act(key, [at], f"{self._seed} {key} {at}")

    def act(self, key: Any, numbers: list[int], seed: str) -> Iterator[Row]:
        chance = random.Random(seed)
        favourites = chance.choices(range(len(ACTIONS)), k=3)
        for number in numbers:
            for _ in range(chance.randrange(4)):
                action = ACTIONS[chance.choice([*favourites, chance.randrange(len(ACTIONS))])]
                for seen in action(self, number, chance):
                    yield Row(key=key[0], seen=seen)


def some(found: Any) -> list[int]:
    return [-1] if found is None else [found[0]]


ACTIONS: list[Any] = [
    lambda p, n, c: some(p.value.get()),
    lambda p, n, c: some(p.value.get()),
    lambda p, n, c: [int(p.value.exists())],
    lambda p, n, c: some(p.value.get()) if p.value.exists() else [-2],
    lambda p, n, c: p.value.update((n,)) or [],
    lambda p, n, c: p.value.clear() or [],
    lambda p, n, c: [int(p.list.exists())],
    lambda p, n, c: [row[0] for row in p.list.get()],
    lambda p, n, c: p.list.appendValue((n,)) or [],
    lambda p, n, c: p.list.appendList([(n,), (c.randrange(9),)]) or [],
    lambda p, n, c: p.list.put([(n,)] * c.randrange(5)) or [],
    lambda p, n, c: p.list.clear() or [],
    lambda p, n, c: some(p.map.getValue((n,))),
    lambda p, n, c: some(p.map.getValue((n,))),
    lambda p, n, c: [int(p.map.containsKey((n,)))],
    lambda p, n, c: some(p.map.getValue((n,))) if p.map.containsKey((n,)) else [-2],
    lambda p, n, c: some(p.map.getValue((c.randrange(3),))),
    lambda p, n, c: p.map.updateValue((n,), (c.randrange(99),)) or [],
    lambda p, n, c: p.map.updateValue((c.randrange(3),), (n,)) or [],
    lambda p, n, c: p.map.removeKey((n,)) or [],
    lambda p, n, c: [int(p.map.exists())],
    lambda p, n, c: [x for pair in p.map.iterator() for row in pair for x in row],
    lambda p, n, c: [row[0] for row in p.map.keys()],
    lambda p, n, c: [row[0] for row in p.map.values()],
    lambda p, n, c: p.map.clear() or [],
    lambda p, n, c: p.handle.registerTimer(500 + c.randrange(1000)) or [],
    lambda p, n, c: p.handle.deleteTimer(500 + c.randrange(1000)) or [],
]


def groups_of(seed: int) -> list[tuple[int, list[int]]]:
    chance = random.Random(seed)
    return [(key, [chance.randrange(9) for _ in range(1 + key % 3)]) for key in range(60)]


def batches_of(groups: list[tuple[int, list[int]]], size: int = 7) -> Iterator[pa.RecordBatch]:
    rows = [(key, number) for key, numbers in groups for number in numbers]
    for at in range(0, len(rows), size):
        keys, numbers = zip(*rows[at : at + size], strict=True)
        yield pa.RecordBatch.from_pydict({"key": keys, "n": numbers})


def by_spark(udf: Any, client: Any, groups: list[tuple[int, list[int]]]) -> list[dict[str, int]]:
    found = []
    for key, numbers in groups:
        rows = iter([Row(key=key, n=number) for number in numbers])
        found += list(udf(client, Mode.PROCESS_DATA, (key,), rows))
    for mode in (Mode.PROCESS_TIMER, Mode.COMPLETE):
        found += list(udf(client, mode, None, iter([])))
    return [row.asDict() for row in found]


def run(processor: StatefulProcessor, server: FakeServer, batches: Any) -> list[dict[str, int]]:
    transform = PipelinedTransform(processor, "processingTime")
    output = RowOutput(OUT, 20, 1 << 20)
    made = transform.run(server.client, Groups(iter(batches), RowForm([0])), output)
    return [row["_0"] for batch in made for row in batch.to_pylist()]


def states(server: FakeServer) -> Any:
    server.join()
    return [server.rows(name) for name in ("value", "list", "map")], server.timers


@pytest.mark.parametrize("seed", range(40))
def test_each_call_finds_what_sparks_client_finds(
    seed: int, new_server: Callable[[], FakeServer]
) -> None:
    groups = groups_of(seed)
    spark, beside, whole = new_server(), new_server(), new_server()
    utils = TransformWithStateInPandasUdfUtils(Anything(seed), "processingTime")
    wanted = by_spark(utils.transformWithStateUDF, spark.client, groups)
    beside_udf = PipelinedTransform(Anything(seed), "processingTime").transformWithStateUDF
    assert by_spark(beside_udf, beside.client, groups) == wanted
    assert run(Anything(seed), whole, batches_of(groups)) == wanted
    assert states(beside) == states(spark) == states(whole)


class ReadModifyWrite(StatefulProcessor):
    def __init__(self, kind: str) -> None:
        self._kind = kind

    def init(self, handle: Any) -> None:
        self.value = handle.getValueState("value", VALUE)
        self.list = handle.getListState("list", VALUE)
        self.map = handle.getMapState("map", USER_KEY, VALUE)

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Row]:
        for row in rows:
            if self._kind == "value":
                old = self.value.get()
                self.value.update(((old[0] if old else 0) + row.n,))
            elif self._kind == "list":
                list(self.list.get())
                self.list.appendValue((row.n,))
            else:
                old = self.map.getValue((row.n,))
                self.map.updateValue((row.n,), ((old[0] if old else 0) + 1,))
        return iter(())


@pytest.mark.parametrize("kind", ["value", "list", "map"])
def test_nobody_waits_for_each_key(kind: str, new_server: Callable[[], FakeServer]) -> None:
    server = new_server()
    keys = 5_000
    batch = pa.RecordBatch.from_pydict(
        {"key": range(keys), "n": [(n * 5 + 3) % 7 for n in range(keys)]}
    )
    run(ReadModifyWrite(kind), server, [batch])
    # Those of the windows from which what handlers ask is seen, and of the batch itself.
    assert vars(server.client)["holdfast"].asked_live < 20
    assert server.calls["bulk.read"] < 20
    assert server.calls["bulk.change"] < 25
    server.join()


FAILING = [
    "implicitGroupingKeyRequest.setImplicitKey",
    "bulk.read",
    "stateVariableRequest.valueStateCall.get",
    "stateVariableRequest.valueStateCall.valueStateUpdate",
    "stateVariableRequest.valueStateCall.clear",
    "stateVariableRequest.listStateCall.appendValue",
    "stateVariableRequest.listStateCall.listStatePut",
    "stateVariableRequest.listStateCall.appendList",
    "stateVariableRequest.listStateCall.clear",
    "stateVariableRequest.mapStateCall.getValue",
    "stateVariableRequest.mapStateCall.containsKey",
    "stateVariableRequest.mapStateCall.updateValue",
    "stateVariableRequest.mapStateCall.removeKey",
    "stateVariableRequest.mapStateCall.clear",
    "statefulProcessorCall.timerStateCall.register",
    "statefulProcessorCall.timerStateCall.delete",
    "implicitGroupingKeyRequest.removeImplicitKey",
    "statefulProcessorCall.setHandleState",
]


class AllCalls(Anything):
    """Makes every call for every key, and holds on when one fails."""

    def act(self, key: Any, numbers: list[int], seed: str) -> Iterator[Row]:
        for action in ACTIONS:
            try:
                for seen in action(self, numbers[0], random.Random(seed)):
                    yield Row(key=key[0], seen=seen)
            except PySparkRuntimeError:
                pass


@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.parametrize("swallowed", [False, True])
def test_an_error_of_the_server_ends_the_batch(
    kind: str, swallowed: bool, new_server: Callable[[], FakeServer]
) -> None:
    server = new_server()
    server.failing = kind
    processor = AllCalls(1) if swallowed else Anything(1)
    with pytest.raises(PySparkRuntimeError, match="it was told to fail"):
        run(processor, server, batches_of(groups_of(1)))


def test_a_server_that_has_gone_ends_the_batch() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        stream = StateStream(ours)
        asked = stream.ask(b"request")
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(PySparkRuntimeError, match="has gone without an answer"):
            stream.answer(asked)


def test_changes_that_the_server_cannot_read_end_the_batch() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        stream = StateStream(ours)
        stream.tell_all(b"changes")
        failure = messages.StateResponse(statusCode=1, errorMessage="no memory for them")
        answer = failure.SerializeToString()
        theirs.sendall(len(answer).to_bytes(4, "big") + answer)
        with pytest.raises(PySparkRuntimeError, match="Error changing state: no memory for them"):
            stream.settle()


class LargeRows(StatefulProcessor):
    """Changes all kinds of state of a key, with text of 100 kB."""

    def init(self, handle: Any) -> None:
        text = StructType([StructField("s", StringType())])
        self.value = handle.getValueState("value", text)
        self.list = handle.getListState("list", text)
        self.map = handle.getMapState("map", text, text)

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Row]:
        large = ("x" * 100_000,)
        self.value.update(large)
        self.list.put([large, large])
        self.list.appendValue(large)
        self.map.updateValue(large, large)
        return iter(())


def test_large_changes_do_not_wait_for_each_other(new_server: Callable[[], FakeServer]) -> None:
    server = new_server()
    run(LargeRows(), server, [pa.RecordBatch.from_pydict({"key": range(40), "n": range(40)})])
    # Those of two keys, of 600 kB each, are as many as one request has.
    assert server.calls["bulk.change"] >= 20

"""Runs a task as Spark's Python worker does, with the state server in Python and no JVM."""

from __future__ import annotations

import importlib
import io
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.serializers import CPickleSerializer
from pyspark.sql.types import StructType
from pyspark.util import PythonEvalType

cloudpickle: Any = importlib.import_module("pyspark.cloudpickle")
spark_worker: Any = importlib.import_module("pyspark.worker")

_ROWS: int = PythonEvalType.SQL_TRANSFORM_WITH_STATE_PYTHON_ROW_UDF
_FRAMES: int = PythonEvalType.SQL_TRANSFORM_WITH_STATE_PANDAS_UDF
_WITH_STATE: dict[int, int] = {
    _ROWS: PythonEvalType.SQL_TRANSFORM_WITH_STATE_PYTHON_ROW_INIT_STATE_UDF,
    _FRAMES: PythonEvalType.SQL_TRANSFORM_WITH_STATE_PANDAS_INIT_STATE_UDF,
}
_START_OF_ARROW = -6


@dataclass
class _Udf:
    udfs: list[bytes]
    args: list[int]
    kwargs: dict[str, int] = field(default_factory=dict)
    result_id: int = 0


class _Conf(spark_worker.RunnerConf):  # type: ignore[misc]
    def __init__(self, settings: dict[str, str]) -> None:
        self._conf = settings

    def get(self, key: str, default: Any = "", **_: Any) -> Any:
        return self._conf.get(key, default)


class _Eval:
    def __init__(self, client: Any, schema: StructType) -> None:
        self.state_server_socket_port = client
        self.grouping_key_schema = schema


def run(  # noqa: PLR0913 - a task is all of these
    function: Any,
    client: Any,
    *,
    batches: Iterable[pa.RecordBatch],
    schema: StructType,
    frames: bool,
    monkeypatch: Any,
    settings: dict[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return the rows that the task of a function returns, whose key is its first column.

    Batches of two columns of structs are those of a query with initial state.
    """
    monkeypatch.setattr(spark_worker, "StatefulProcessorApiClient", lambda *_: client)
    monkeypatch.setattr(TaskContext, "_taskContext", TaskContext())
    given = list(batches)
    kind = _FRAMES if frames else _ROWS
    if given[0].schema.names == ["inputData", "initState"]:
        kind = _WITH_STATE[kind]
        columns = given[0].column(0).type.num_fields
        offsets = [columns + 2, 1, 0, *range(columns)] * 2
    else:
        columns = given[0].num_columns
        offsets = [columns + 2, 1, 0, *range(columns)]
    command = cloudpickle.dumps((function, schema))
    found = spark_worker.read_udfs(
        CPickleSerializer(),
        _udfs(command, offsets),
        kind,
        _Conf({"spark.sql.session.timeZone": "UTC"} | (settings or {})),
        _Eval(0, schema),
    )
    task, _, reader, writer = found
    source, sink = io.BytesIO(), io.BytesIO()
    with pa.RecordBatchStreamWriter(source, given[0].schema) as to_worker:
        for batch in given:
            to_worker.write_batch(batch)
    source.seek(0)
    results = task(0, reader.load_stream(source))
    writer.dump_stream(results, sink)
    sink.seek(0)
    if not sink.getvalue():
        return []
    assert struct.unpack(">i", sink.read(4)) == (_START_OF_ARROW,)
    return [row["_0"] for row in pa.ipc.open_stream(sink).read_all().to_pylist()]


def _udfs(command: bytes, offsets: list[int]) -> Any:
    if "infile" not in spark_worker.read_udfs.__code__.co_varnames[:2]:
        return [_Udf([command], offsets)]
    arguments = b"".join(struct.pack(">i?", offset, False) for offset in offsets)
    counted = struct.pack(">ii", 1, len(offsets)) + arguments
    return io.BytesIO(counted + struct.pack(">ii", 1, len(command)) + command + bytes(8))

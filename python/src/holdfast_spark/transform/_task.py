"""Takes a task of Spark's Python worker over, to go through its keys many at a time.

Spark's worker reads batches, cuts them into groups, calls the function for each, and writes a batch
of what each returned. When the user's processor arrives in the worker, `take_over` puts itself
between that and the streams of this one task: it gives the batches to `PipelinedTransform` and
writes what it returns. What it has to know it finds in what Spark's function keeps; where that is
not as in the Spark lines that it is made for, Spark's function does the task.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.pandas import serializers
from pyspark.sql.pandas.serializers import ArrowStreamSerializer

from holdfast_spark.transform._frame_sizes import FrameSizes
from holdfast_spark.transform._frames import Conversion, FrameForm, FrameOutput
from holdfast_spark.transform._groups import Groups
from holdfast_spark.transform._rows import RowForm, RowOutput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

# What reads and writes the streams of these tasks in 4.2; in 4.3 it is what all tasks have.
_SERIALIZERS = (
    "TransformWithStateInPySparkRowSerializer",
    "TransformWithStateInPySparkRowInitStateSerializer",
    "TransformWithStateInPandasSerializer",
    "TransformWithStateInPandasInitStateSerializer",
)
# Of a batch of what handlers return.
_MOST_ROWS = 10_000
_MOST_BYTES = 4 << 20


def take_over(transform: Any) -> None:
    """Take over the task whose function is being read.

    Args:
        transform: the `PipelinedTransform` that it is.
    """
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None or os.environ.get("SPARK_PIPELINED_UDF") == "1":
        return  # no task, or one whose stream another thread reads
    task = context.taskAttemptId()
    found = [getattr(serializers, name, None) for name in _SERIALIZERS]
    kinds = [kind for kind in found if kind is not None and "load_stream" in vars(kind)]
    originals = {kind: kind.load_stream for kind in kinds or [ArrowStreamSerializer]}

    def load_stream(serializer: Any, stream: Any) -> Iterator[Any]:
        for kind, original in originals.items():
            kind.load_stream = original
        current = TaskContext.get()
        if current is not None and current.taskAttemptId() == task:
            # Two ways to read one stream. They read when they are asked, and one is asked.
            batches = ArrowStreamSerializer.load_stream(serializer, stream)
            serializer.dump_stream = _Dump(transform, serializer, batches)
        return serializer.load_stream(stream)  # type: ignore[no-any-return]

    for kind in originals:
        kind.load_stream = load_stream


class _Dump:
    """Writes what the task returns, and has it made first."""

    def __init__(self, transform: Any, serializer: Any, batches: Iterator[pa.RecordBatch]) -> None:
        self._transform = transform
        self._serializer = serializer
        self._batches = batches

    def __call__(self, spark_results: Any, stream: Any) -> None:
        serializer = self._serializer
        del serializer.dump_stream
        task = _task_of(spark_results, serializer)
        if task is None or not self._transform.runs(task.client):
            serializer.dump_stream(spark_results, stream)
            return
        groups = Groups(self._batches, task.form)
        results = self._transform.run(task.client, groups, task.output)
        started = serializer._write_stream_start(results, stream)
        ArrowStreamSerializer.dump_stream(ArrowStreamSerializer(), started, stream)


@dataclass(frozen=True)
class _Task:
    client: Any
    form: RowForm | FrameForm
    output: RowOutput | FrameOutput


def _task_of(results: Any, serializer: Any) -> _Task | None:
    """Return what is to be known of a task, None where this Spark keeps it in another way."""
    names = _names_of(results)
    try:
        if any(name.startswith("init") for name in (*names, *vars(serializer))):
            return None  # it has initial state, whose rows come between
        return _task_with(names, serializer)
    except (KeyError, AttributeError, TypeError, IndexError):
        return None


def _task_with(names: Mapping[str, Any], serializer: Any) -> _Task:
    client = names["stateful_processor_api_client"]
    if "key_offsets" in names:  # Spark 4.3, whose function has all of it among its own names
        keys, values = names["key_offsets"], names.get("value_offsets")
        return_type, sizes = names["return_type"], names
        settings, prefix = names.get("runner_conf"), ""
    else:  # Spark 4.2, where the serializer has most of it
        offsets = names.get("parsed_offsets")
        keys, values = serializer.key_offsets, offsets and offsets[0][1]
        return_type, sizes = _closure(names["f"])["return_type"], vars(serializer)
        settings, prefix = serializer, "_"
    if values is None:
        return _Task(client, RowForm(keys), RowOutput(return_type, _MOST_ROWS, _MOST_BYTES))
    fields = Conversion.__dataclass_fields__
    conversion = Conversion(**{name: getattr(settings, prefix + name) for name in fields})
    frames = FrameSizes(sizes["arrow_max_records_per_batch"], sizes["arrow_max_bytes_per_batch"])
    form = FrameForm(keys, values, conversion, frames)
    return _Task(client, form, FrameOutput(return_type, conversion, _MOST_ROWS, _MOST_BYTES))


def _names_of(results: Any) -> dict[str, Any]:
    """Return what Spark's function for the task refers to, by name."""
    # In Spark 4.3 it is a generator that has not begun: its frame has its arguments and what it
    # takes from the function around it.
    if frame := getattr(results, "gi_frame", None):
        return dict(frame.f_locals)
    # In Spark 4.2 it is `map(mapper, ...)`, which shows its function only as it would be pickled.
    if isinstance(results, map):
        return _closure(results.__reduce__()[1][0])
    return {}


def _closure(function: Any) -> dict[str, Any]:
    """Return what a function takes from the one around it: in Spark 4.2 the mapper, and its `f`."""
    cells = function.__closure__ or ()
    names = function.__code__.co_freevars
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}

"""The user's processor with states whose clients know of many keys at once."""

from __future__ import annotations

import gc
import socket
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import (
    ListState,
    MapState,
    StatefulProcessorHandle,
    TimerValues,
    ValueState,
)
from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorHandleState
from pyspark.sql.streaming.stateful_processor_util import TransformWithStateInPandasFuncMode

from holdfast_spark.transform import _wire
from holdfast_spark.transform._ahead import Ahead
from holdfast_spark.transform._client import PipelinedApiClient
from holdfast_spark.transform._lines import LINES
from holdfast_spark.transform._states import (
    PipelinedListState,
    PipelinedMapState,
    PipelinedValueState,
)
from holdfast_spark.transform._task import take_over

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.streaming.stateful_processor import StatefulProcessor
    from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorApiClient
    from pyspark.sql.types import StructType

    from holdfast_spark.transform._groups import Groups


class PipelinedHandle(StatefulProcessorHandle):
    """Spark's handle, which makes states of the pipelined clients."""

    def __init__(self, client: PipelinedApiClient) -> None:
        super().__init__(client)
        self._client = client

    def getValueState(
        self,
        stateName: str,
        schema: StructType | str,
        ttlDurationMs: int | None = None,
    ) -> ValueState:
        """Return a value state."""
        self._client.get_value_state(stateName, schema, ttlDurationMs)
        return ValueState(PipelinedValueState(self._client, schema, stateName), stateName)

    def getListState(
        self,
        stateName: str,
        schema: StructType | str,
        ttlDurationMs: int | None = None,
    ) -> ListState:
        """Return a list state."""
        self._client.get_list_state(stateName, schema, ttlDurationMs)
        return ListState(PipelinedListState(self._client, schema, stateName), stateName)

    def getMapState(
        self,
        stateName: str,
        userKeySchema: StructType | str,
        valueSchema: StructType | str,
        ttlDurationMs: int | None = None,
    ) -> MapState:
        """Return a map state."""
        self._client.get_map_state(stateName, userKeySchema, valueSchema, ttlDurationMs)
        client = PipelinedMapState(self._client, userKeySchema, valueSchema, stateName)
        return MapState(client, stateName)


class PipelinedTransform:
    """What Spark sends to its workers for `transformWithState`, with the client put in its place.

    It has the two functions of Spark's `TransformWithStateInPandasUdfUtils`, and calls those.

    Args:
        stateful_processor: the user's processor.
        time_mode: the time mode, as Spark names it.
    """

    def __init__(self, stateful_processor: StatefulProcessor, time_mode: str) -> None:
        self._processor = stateful_processor
        self._time_mode = time_mode

    def transformWithStateUDF(
        self,
        stateful_processor_api_client: StatefulProcessorApiClient,
        mode: TransformWithStateInPandasFuncMode,
        key: Any,
        input_rows: Iterator[Any],
    ) -> Iterator[Any]:
        """Do one step of the operator."""
        client = self._prepared(stateful_processor_api_client, mode)
        step: Iterator[Any] = self._spark().transformWithStateUDF(client, mode, key, input_rows)
        return step

    def transformWithStateWithInitStateUDF(
        self,
        stateful_processor_api_client: StatefulProcessorApiClient,
        mode: TransformWithStateInPandasFuncMode,
        key: Any,
        input_rows: Iterator[Any],
        initial_states: Iterator[Any] | None = None,
    ) -> Iterator[Any]:
        """Do one step of the operator that has initial state."""
        client = self._prepared(stateful_processor_api_client, mode)
        step: Iterator[Any] = self._spark().transformWithStateWithInitStateUDF(
            client, mode, key, input_rows, initial_states
        )
        return step

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if pipelines():
            take_over(self)

    def runs(self, spark_client: StatefulProcessorApiClient) -> bool:
        """Tell whether the server of a task is one with which `run` can do it."""
        return answers_in_bulk(spark_client)

    def run(
        self, spark_client: StatefulProcessorApiClient, groups: Groups, output: Any
    ) -> Iterator[Any]:
        """Do a whole task without initial state.

        Args:
            spark_client: the client of the task.
            groups: the input.
            output: takes what handlers return, and makes batches of it.
        """
        # The collector would go through all that the worker has imported, several times a second.
        gc.freeze()
        try:
            yield from self._run(spark_client, groups, output)
        finally:
            gc.unfreeze()

    def _run(
        self, spark_client: StatefulProcessorApiClient, groups: Groups, output: Any
    ) -> Iterator[Any]:
        client = self._prepared(spark_client, TransformWithStateInPandasFuncMode.PROCESS_DATA)
        ahead = Ahead(client)
        times = TimerValues(*client.get_timestamps(self._time_mode))
        for of_batch in groups:
            for group in ahead.through(of_batch):
                results = self._processor.handleInputRows(group.key, group.given, times)
                yield from output.add(results)
            yield from output.rest()
        for mode in (
            TransformWithStateInPandasFuncMode.PROCESS_TIMER,
            TransformWithStateInPandasFuncMode.COMPLETE,
        ):
            step = self._spark().transformWithStateUDF(client, mode, None, iter([]))
            yield from output.add(step)
        yield from output.rest()

    def _prepared(
        self, client: StatefulProcessorApiClient, mode: TransformWithStateInPandasFuncMode
    ) -> Any:
        """Return the client of the task, and let the processor make its states with it."""
        if mode == TransformWithStateInPandasFuncMode.PRE_INIT or not answers_in_bulk(client):
            return client
        prepared: PipelinedApiClient | None = getattr(client, "holdfast", None)
        if prepared is None:
            prepared = PipelinedApiClient(client)
            client.holdfast = prepared  # type: ignore[attr-defined]
            self._processor.init(PipelinedHandle(prepared))
            prepared.set_handle_state(StatefulProcessorHandleState.INITIALIZED)
        return prepared

    def _spark(self) -> Any:
        # By its name in the worker: where the session is, this class has taken that name.
        from pyspark.sql.streaming import stateful_processor_util as util

        return util.TransformWithStateInPandasUdfUtils(self._processor, self._time_mode)


def answers_in_bulk(spark_client: Any) -> bool:
    """Tell whether a server answers requests about many keys; Spark's own does not."""
    known: bool | None = getattr(spark_client, "answers_in_bulk", None)
    if known is None:
        known = pipelines() and _ask_if_in_bulk(spark_client)
        spark_client.answers_in_bulk = known
    return known


def _ask_if_in_bulk(spark_client: Any) -> bool:
    import pyspark.sql.streaming.proto.StateMessage_pb2 as messages

    parse = messages.ParseStringSchema(schema=_wire.QUESTION)
    request = messages.UtilsRequest(parseStringSchema=parse)
    message = messages.StateRequest(utilsRequest=request)
    spark_client._send_proto_message(message.SerializeToString())
    _, said, _ = spark_client._receive_proto_message_with_string_value()
    return bool(said == _wire.ANSWER)


def pipelines() -> bool:
    """Tell whether this process has the pyspark, and the sockets, that the client is made for."""
    import pyspark

    line = ".".join(pyspark.__version__.split(".")[:2])
    return line in LINES and hasattr(socket, "MSG_DONTWAIT")

"""The clients of value, list and map states that wait for reads alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.list_state_client import ListStateClient
from pyspark.sql.streaming.map_state_client import MapStateClient
from pyspark.sql.streaming.value_state_client import ValueStateClient

from holdfast_spark.transform import _wire
from holdfast_spark.transform._client import Read

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from holdfast_spark.transform._client import PipelinedApiClient
    from holdfast_spark.transform._wire import Calls


class PipelinedValueState(ValueStateClient):
    """The client of one value state."""

    def __init__(self, client: PipelinedApiClient, schema: StructType | str, name: str) -> None:
        super().__init__(client, schema)
        self._client = client
        self._calls = _wire.Calls(_wire.VALUE, name)
        self._exists = self._calls.request(_wire.VALUE_EXISTS)
        self._get = self._calls.request(_wire.VALUE_GET)
        self._clear = self._calls.request(_wire.VALUE_CLEAR)

    def exists(self, state_name: str) -> bool:  # noqa: ARG002 - Spark's signature
        """Tell whether there is a value."""
        what = "checking value state exists"
        if self._client.holds(self._calls, self._get):
            return bool(_row(self._client.read(self._calls, self._get, what)))
        return not self._client.read(self._calls, self._exists, what)

    def get(self, state_name: str) -> tuple[Any, ...] | None:  # noqa: ARG002
        """Return the value, None where there is none."""
        guard = self._exists if self._client.holds(self._calls, self._exists) else None
        row = _row(self._client.read(self._calls, self._get, "getting value state", guard))
        return tuple(self._client.deserialize(row)) if row else None

    def update(self, state_name: str, value: tuple[Any, ...]) -> None:  # noqa: ARG002
        """Change the value."""
        row = self._client.serialize(self.schema, value)
        request = self._calls.with_bytes(_wire.VALUE_UPDATE, row)
        self._client.change(self._calls, request, "updating value state")

    def clear(self, state_name: str) -> None:  # noqa: ARG002
        """Remove the value."""
        self._client.change(self._calls, self._clear, "clearing value state")


class PipelinedListState(ListStateClient):
    """The client of one list state."""

    def __init__(self, client: PipelinedApiClient, schema: StructType | str, name: str) -> None:
        super().__init__(client, schema)
        self._client = client
        self._calls = _wire.Calls(_wire.LIST, name)
        self._pages = _Pages(client, self._calls, _wire.LIST_GET, "ListGet")
        self._clear = self._calls.request(_wire.LIST_CLEAR)

    def exists(self, state_name: str) -> bool:
        """Tell whether the list has a value."""
        page = self._pages.held()
        return super().exists(state_name) if page is None else page.statusCode == 0

    def get(self, state_name: str, iterator_id: str) -> tuple[tuple[Any, ...], bool]:
        """Return the next value of an iterator, and whether it is the last one."""
        if iterator_id not in self.data_batch_dict:
            page = self._pages.of(iterator_id)
            if page is not None:
                rows = [self._client.deserialize(row) for row in page.value]
                self.data_batch_dict[iterator_id] = (rows, 0, False)
        return super().get(state_name, iterator_id)

    def append_value(self, state_name: str, value: tuple[Any, ...]) -> None:  # noqa: ARG002
        """Append a value."""
        row = self._client.serialize(self.schema, value)
        self._change(self._calls.with_bytes(_wire.LIST_APPEND, row))

    def append_list(self, state_name: str, values: list[tuple[Any, ...]]) -> None:  # noqa: ARG002
        """Append values."""
        rows = [self._client.serialize(self.schema, value) for value in values]
        self._change(self._calls.with_rows(_wire.LIST_APPEND_ALL, rows))

    def put(self, state_name: str, values: list[tuple[Any, ...]]) -> None:  # noqa: ARG002
        """Replace the list."""
        rows = [self._client.serialize(self.schema, value) for value in values]
        self._change(self._calls.with_rows(_wire.LIST_PUT, rows))

    def clear(self, state_name: str) -> None:  # noqa: ARG002
        """Remove the list."""
        self._client.change(self._calls, self._clear, "clearing value state")

    def _change(self, request: bytes) -> None:
        self._client.change(self._calls, request, "updating value state")


class PipelinedMapState(MapStateClient):
    """The client of one map state."""

    def __init__(
        self,
        client: PipelinedApiClient,
        user_key_schema: StructType | str,
        value_schema: StructType | str,
        name: str,
    ) -> None:
        super().__init__(client, user_key_schema, value_schema)
        self._client = client
        self._calls = _wire.Calls(_wire.MAP, name)
        self._pairs = _Pages(client, self._calls, _wire.MAP_PAIRS, "MapIterator")
        self._keys = _Pages(client, self._calls, _wire.MAP_KEYS, "MapKeysOrValues")
        self._values = _Pages(client, self._calls, _wire.MAP_VALUES, "MapKeysOrValues")
        self._clear = self._calls.request(_wire.MAP_CLEAR)

    def read_of(self, user_key: tuple[Any, ...], *, guarded: bool) -> Read:
        """Return the read of the value of a user's key.

        Args:
            user_key: the key.
            guarded: whether to ask first if it is there.
        """
        key = self._client.serialize(self.user_key_schema, user_key)
        guard = self._calls.with_bytes(_wire.MAP_CONTAINS, key) if guarded else None
        return Read(self._calls, self._calls.with_bytes(_wire.MAP_GET, key), guard)

    def is_about(self, read: Read) -> bool:
        """Tell whether a read is one of this map."""
        return read.calls is self._calls and read.request not in self._client.iterations

    def get_value(self, state_name: str, user_key: tuple[Any, ...]) -> tuple[Any, ...] | None:  # noqa: ARG002
        """Return the value of a user's key, None where there is none."""
        self._client.asked_user_keys.append((self, user_key, False))
        key = self._client.serialize(self.user_key_schema, user_key)
        request = self._calls.with_bytes(_wire.MAP_GET, key)
        guard: bytes | None = self._calls.with_bytes(_wire.MAP_CONTAINS, key)
        if not self._client.holds(self._calls, guard or b""):
            guard = None
        row = _row(self._client.read(self._calls, request, "getting value", guard))
        return self._client.deserialize(row) if row else None

    def contains_key(self, state_name: str, user_key: tuple[Any, ...]) -> bool:  # noqa: ARG002
        """Tell whether a user's key has a value."""
        self._client.asked_user_keys.append((self, user_key, True))
        what = "checking if map state contains key"
        key = self._client.serialize(self.user_key_schema, user_key)
        request = self._calls.with_bytes(_wire.MAP_GET, key)
        if self._client.holds(self._calls, request):
            return bool(_row(self._client.read(self._calls, request, what)))
        guard = self._calls.with_bytes(_wire.MAP_CONTAINS, key)
        return not self._client.read(self._calls, guard, what)

    def update_value(
        self,
        state_name: str,  # noqa: ARG002
        user_key: tuple[Any, ...],
        value: tuple[Any, ...],
    ) -> None:
        """Change the value of a user's key."""
        key = self._client.serialize(self.user_key_schema, user_key)
        row = self._client.serialize(self.value_schema, value)
        request = self._calls.with_two(_wire.MAP_UPDATE, key, row)
        self._change(key, request, "updating map state value")

    def remove_key(self, state_name: str, key: tuple[Any, ...]) -> None:  # noqa: ARG002
        """Remove a user's key."""
        user_key = self._client.serialize(self.user_key_schema, key)
        request = self._calls.with_bytes(_wire.MAP_REMOVE, user_key)
        self._change(user_key, request, "removing key from map state")

    def clear(self, state_name: str) -> None:  # noqa: ARG002
        """Remove all keys."""
        self._client.change(self._calls, self._clear, "clearing map state")

    def get_key_value_pair(
        self, state_name: str, iterator_id: str
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], bool]:
        """Return the next pair of an iterator, and whether it is the last one."""
        if iterator_id not in self.user_key_value_pair_iterator_cursors:
            page = self._pairs.of(iterator_id)
            if page is not None:
                load = self._client.deserialize
                rows = [(load(pair.key), load(pair.value)) for pair in page.kvPair]
                self.user_key_value_pair_iterator_cursors[iterator_id] = (rows, 0, False)
        return super().get_key_value_pair(state_name, iterator_id)

    def get_row(
        self,
        state_name: str,
        iterator_id: str,
        is_key: bool,
    ) -> tuple[tuple[Any, ...], bool]:
        """Return the next key or value of an iterator, and whether it is the last one."""
        if iterator_id not in self.user_key_or_value_iterator_cursors:
            page = (self._keys if is_key else self._values).of(iterator_id)
            if page is not None:
                rows = [self._client.deserialize(row) for row in page.value]
                self.user_key_or_value_iterator_cursors[iterator_id] = (rows, 0, False)
        return super().get_row(state_name, iterator_id, is_key)

    def _change(self, key: bytes, request: bytes, what: str) -> None:
        stale = [
            self._calls.with_bytes(_wire.MAP_GET, key),
            self._calls.with_bytes(_wire.MAP_CONTAINS, key),
            *(pages.request for pages in (self._pairs, self._keys, self._values)),
        ]
        self._client.change(self._calls, request, what, stale=stale)


def _row(answer: bytes) -> bytes:
    """Return the row of an answer, empty where there is none."""
    if not answer:
        return b""
    import pyspark.sql.streaming.proto.StateMessage_pb2 as messages

    row: bytes = messages.StateResponse.FromString(answer).value
    return row


class _Pages:
    """The first pages of iterations of one kind over a state, where they were asked for ahead.

    An iteration that has more than a page, or was not asked for, is left to Spark's client.
    """

    def __init__(self, client: PipelinedApiClient, calls: Calls, call: bytes, kind: str) -> None:
        self._client = client
        self._calls = calls
        self._kind = kind
        self._live: set[str] = set()
        self.request = calls.page(call)
        client.iterations[self.request] = call

    def held(self) -> Any | None:
        """Return the page, None where it is not here."""
        if self._client.holds(self._calls, self.request):
            answer = self._client.page(self._calls, self.request)
            return None if answer is None else self._parse(answer)
        return None

    def of(self, iterator: str) -> Any | None:
        """Return the page, None where Spark's client is to ask for the iterator's next one.

        Raises:
            StopIteration: the page has nothing.
        """
        if iterator in self._live:
            return None
        answer = self._client.page(self._calls, self.request)
        page = None if answer is None else self._parse(answer)
        if page is None or page.requireNextFetch:
            self._live.add(iterator)
            return None
        if page.statusCode != 0:
            raise StopIteration
        return page

    def _parse(self, answer: bytes) -> Any:
        import pyspark.sql.streaming.proto.StateMessage_pb2 as messages

        return getattr(messages, f"StateResponseWith{self._kind}").FromString(answer)

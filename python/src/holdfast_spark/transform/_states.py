"""The clients of value, list and map states whose reads are here before they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.list_state_client import ListStateClient
from pyspark.sql.streaming.map_state_client import MapStateClient
from pyspark.sql.streaming.value_state_client import ValueStateClient

from holdfast_spark.transform import _wire
from holdfast_spark.transform._client import MOST_KEPT
from holdfast_spark.transform._form import RowForm

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.types import StructType

    from holdfast_spark.transform._client import PipelinedApiClient, Read

    Cursors = dict[str, tuple[Any, int, bool]]


class PipelinedValueState(ValueStateClient):
    """The client of one value state."""

    def __init__(self, client: PipelinedApiClient, schema: StructType | str, name: str) -> None:
        super().__init__(client, schema)
        self._client = client
        self._form = RowForm(client, self.schema)
        self._read = (_wire.READ_VALUE, name)
        self._clear = (_wire.CLEAR_VALUE, name)

    def exists(self, state_name: str) -> bool:
        """Tell whether there is a value."""
        here, values = self._client.held(self._read)
        return values is not None if here else super().exists(state_name)

    def get(self, state_name: str) -> tuple[Any, ...] | None:
        """Return the value, None where there is none."""
        here, values = self._client.held(self._read)
        if not here:
            return super().get(state_name)
        if values is None:
            return None
        if not self._form.lasting:
            self._client.forget(self._read)
        return self._form.values(values)

    def update(self, state_name: str, value: tuple[Any, ...]) -> None:
        """Change the value."""
        sent = self._form.sent(value)
        self._client.change((_wire.UPDATE_VALUE, state_name, sent), self._form.size(sent))
        _keep(self._client, self._read, self._form, value)

    def clear(self, state_name: str) -> None:  # noqa: ARG002 - Spark's signature
        """Remove the value."""
        self._client.change(self._clear)
        self._client.hold(self._read, None)


class PipelinedListState(ListStateClient):
    """The client of one list state."""

    def __init__(self, client: PipelinedApiClient, schema: StructType | str, name: str) -> None:
        super().__init__(client, schema)
        self._client = client
        self._form = RowForm(client, self.schema)
        self._read = (_wire.READ_LIST, name)
        self._iterations = _Iterations(client, self._read, lasting=self._form.lasting)

    def exists(self, state_name: str) -> bool:
        """Tell whether the list has a value."""
        here, rows = self._client.held(self._read)
        return super().exists(state_name) if not here or rows is None else bool(rows)

    def get(self, state_name: str, iterator_id: str) -> tuple[tuple[Any, ...], bool]:
        """Return the next value of an iterator, and whether it is the last one."""
        cursors: Cursors = self.data_batch_dict
        self._iterations.begin(iterator_id, cursors, self._form.all_values)
        found = super().get(state_name, iterator_id)
        self._iterations.went_on(iterator_id, last=found[-1])
        return found

    def append_value(self, state_name: str, value: tuple[Any, ...]) -> None:
        """Append a value."""
        rows = self._client.known(self._read)
        sent = self._form.sent(value)
        self._change((_wire.APPEND_TO_LIST, state_name, sent), self._form.size(sent))
        if rows is not None and len(rows) < MOST_KEPT and self._form.comes_back(value):
            rows.append(value)  # iterations that have begun have lists of their own
            self._client.hold(self._read, rows)

    def append_list(self, state_name: str, values: list[tuple[Any, ...]]) -> None:
        """Append values."""
        self._change_all(_wire.APPEND_ALL_TO_LIST, state_name, values)

    def put(self, state_name: str, values: list[tuple[Any, ...]]) -> None:
        """Replace the list."""
        self._change_all(_wire.PUT_LIST, state_name, values)

    def clear(self, state_name: str) -> None:
        """Remove the list."""
        self._change((_wire.CLEAR_LIST, state_name))
        self._client.hold(self._read, [])

    def _change_all(self, kind: int, state_name: str, values: list[tuple[Any, ...]]) -> None:
        sent = [*map(self._form.sent, values)]
        self._change((kind, state_name, sent), sum(map(self._form.size, sent)))

    def _change(self, change: tuple[Any, ...], size: int = 0) -> None:
        self._client.change(change, size)
        self._client.forget(self._read)


class PipelinedMapState(MapStateClient):
    """The client of one map state.

    What is known of an entry is kept under its key as it is sent. A key that may be one to the
    server with others is always asked for, and after a change of its entry, all others are.
    """

    def __init__(
        self,
        client: PipelinedApiClient,
        user_key_schema: StructType | str,
        value_schema: StructType | str,
        name: str,
    ) -> None:
        super().__init__(client, user_key_schema, value_schema)
        self._client = client
        self._name = name
        self._keys = RowForm(client, self.user_key_schema)
        self._values = RowForm(client, self.value_schema)
        self._pairs = (_wire.READ_PAIRS, name)
        lasting = self._keys.lasting and self._values.lasting
        self._iterations = _Iterations(client, self._pairs, lasting=lasting)

    def read_of(self, user_key: tuple[Any, ...]) -> Read | None:
        """Return the read of the value of a user's key, None where that is always asked for."""
        sent = self._keys.told_apart(user_key)
        return None if sent is None else (_wire.READ_ENTRIES, self._name, sent)

    def is_about(self, read: Read) -> bool:
        """Tell whether a read is one of an entry of this map."""
        return read[0] == _wire.READ_ENTRIES and bool(read[1] == self._name)

    def exists(self, state_name: str) -> bool:
        """Tell whether the map has an entry."""
        here, pairs = self._client.held(self._pairs)
        return super().exists(state_name) if not here or pairs is None else bool(pairs)

    def get_value(self, state_name: str, user_key: tuple[Any, ...]) -> Any:
        """Return the value of a user's key, None where there is none."""
        read = self.read_of(user_key)
        if read is None:
            return super().get_value(state_name, user_key)
        self._client.note_user_key(self, user_key)
        here, values = self._client.held(read)
        if not here:
            return super().get_value(state_name, user_key)
        if values is None:
            return None
        if not self._values.lasting:
            self._client.forget(read)
        return self._values.row(values)

    def contains_key(self, state_name: str, user_key: tuple[Any, ...]) -> bool:
        """Tell whether a user's key has a value."""
        read = self.read_of(user_key)
        if read is None:
            return super().contains_key(state_name, user_key)
        self._client.note_user_key(self, user_key)
        here, values = self._client.held(read)
        return values is not None if here else super().contains_key(state_name, user_key)

    def update_value(
        self, state_name: str, user_key: tuple[Any, ...], value: tuple[Any, ...]
    ) -> None:
        """Change the value of a user's key."""
        row = self._values.sent(value)
        size = self._values.size(row)
        read = self._change_entry(_wire.UPDATE_ENTRY, state_name, user_key, (row,), size)
        if read:
            _keep(self._client, read, self._values, value)

    def remove_key(self, state_name: str, key: tuple[Any, ...]) -> None:
        """Remove a user's key."""
        read = self._change_entry(_wire.REMOVE_ENTRY, state_name, key, (), 0)
        if read:
            self._client.hold(read, None)

    def clear(self, state_name: str) -> None:
        """Remove all keys."""
        self._client.change((_wire.CLEAR_MAP, state_name))
        self._client.forget_all(state_name)
        self._client.hold(self._pairs, [])

    def get_key_value_pair(
        self, state_name: str, iterator_id: str
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], bool]:
        """Return the next pair of an iterator, and whether it is the last one."""
        cursors: Cursors = self.user_key_value_pair_iterator_cursors
        self._iterations.begin(iterator_id, cursors, self._of_pairs)
        found = super().get_key_value_pair(state_name, iterator_id)
        self._iterations.went_on(iterator_id, last=found[-1])
        return found

    def get_row(
        self, state_name: str, iterator_id: str, is_key: bool
    ) -> tuple[tuple[Any, ...], bool]:
        """Return the next key or value of an iterator, and whether it is the last one."""
        cursors: Cursors = self.user_key_or_value_iterator_cursors
        made = self._of_keys if is_key else self._of_values
        self._iterations.begin(iterator_id, cursors, made)
        found = super().get_row(state_name, iterator_id, is_key)
        self._iterations.went_on(iterator_id, last=found[-1])
        return found

    def _change_entry(
        self,
        kind: int,
        state_name: str,
        user_key: tuple[Any, ...],
        row: tuple[Any, ...],
        size: int,
    ) -> Read | None:
        """Change an entry; return what reads it, if no other read of an entry finds the change."""
        read = self.read_of(user_key)
        key = self._keys.sent(user_key) if read is None else read[2]
        self._client.change((kind, state_name, key, *row), size + self._keys.size(key))
        if read is None:
            self._client.forget_all(self._name)
        else:
            self._client.forget(self._pairs)
        return read

    def _of_pairs(self, pairs: list[Any]) -> list[Any]:
        return [(self._keys.values(key), self._values.values(value)) for key, value in pairs]

    def _of_keys(self, pairs: list[Any]) -> list[Any]:
        return [self._keys.values(key) for key, _ in pairs]

    def _of_values(self, pairs: list[Any]) -> list[Any]:
        return [self._values.values(value) for _, value in pairs]


def _keep(client: PipelinedApiClient, read: Read, form: RowForm, row: tuple[Any, ...]) -> None:
    """Know what a read finds after a change to a row, or that it has to be asked for."""
    if form.comes_back(row):
        client.hold(read, row)
    else:
        client.forget(read)


class _Iterations:
    """Iterations over a state whose rows are here; the others are left to Spark's client.

    Spark's client keeps the rows of an iteration, page by page, by its name. What is noted of it
    here lasts as long as its key is the current one, as on Spark's server.
    """

    def __init__(self, client: PipelinedApiClient, read: Read, *, lasting: bool) -> None:
        self._client = client
        self._read = read
        self._lasting = lasting
        self._left_to_spark: set[str] = set()
        self._ended: set[str] = set()
        self._of_key = client.asked

    def begin(
        self, iterator: str, cursors: Cursors, made: Callable[[list[Any]], list[Any]]
    ) -> None:
        """Give Spark's client the rows of an iteration that begins.

        Raises:
            StopIteration: there are none, or there were none when it began.
        """
        # The client makes a set for each key, so that another one tells of another key. The keys
        # themselves do not: two that are not the same may be equal, and one may come twice.
        if self._of_key is not self._client.asked:
            self._of_key = self._client.asked
            self._left_to_spark.clear()
            self._ended.clear()
        if iterator in self._ended:
            raise StopIteration
        if iterator in cursors or iterator in self._left_to_spark:
            return
        here, rows = self._client.held(self._read)
        if not here or rows is None:
            self._left_to_spark.add(iterator)
            return
        if not rows:
            self._ended.add(iterator)
            raise StopIteration
        if not self._lasting:
            self._client.forget(self._read)
        cursors[iterator] = (made(rows), 0, False)

    def went_on(self, iterator: str, *, last: bool) -> None:
        """Take note that an iteration has given a row."""
        if last:
            self._left_to_spark.discard(iterator)

"""Spark's client of the state server, which asks and tells it about many keys at once."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorApiClient

from holdfast_spark.transform import _wire
from holdfast_spark.transform._form import RowForm
from holdfast_spark.transform._stream import StateStream
from holdfast_spark.transform._user_keys import ASKED_LOOKED_AT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast_spark.transform._form import Sent
    from holdfast_spark.transform._states import PipelinedMapState
    from holdfast_spark.transform._stream import Pending

# What a read is about: its kind and the name of the state, of entries the user's key too.
Read = tuple[Any, ...]
# Of what is kept of a key, so that it fits into memory whatever its handler does: entries of its
# maps and values of a list, and which entries it asked for.
MOST_KEPT = 4096
_MOST_CHANGES = 4096
_MOST_CHANGED_BYTES = 1024 * 1024


class PipelinedApiClient(StatefulProcessorApiClient):
    """Spark's client, over a connection that Spark's client has opened.

    Changes wait until something is asked, or there are many. What was asked for the current key
    before its handler began is here, and what the handler has changed, as far as there is room.
    Anything else is asked for behind the changes: nothing has to be here for a call to find what it
    should.

    Attributes:
        stream: the connection.
        asked: the reads for the current key, from which those of the next follow; of entries no
            more than `MOST_KEPT`.
        asked_live: how many requests were sent only when their answers were waited for.
        asked_user_keys: the first of the user's keys among them, with their maps.
    """

    def __init__(self, spark_client: StatefulProcessorApiClient) -> None:
        self.__dict__.update(spark_client.__dict__)
        self.stream = StateStream(spark_client._client_socket)
        self.sockfile = self.stream  # type: ignore[assignment]
        self.asked: set[Read] = set()
        self.asked_live = 0
        self.asked_user_keys: list[tuple[PipelinedMapState, tuple[Any, ...]]] = []
        self._keys = RowForm(self, self.key_schema)
        self._key: Any = None
        self._sent_key: Sent = b""
        self._known_there = True
        self._held: dict[Read, Any] = {}
        self._changes: list[Any] = []
        self._of_key: list[tuple[Any, ...]] | None = None
        self._count = 0
        self._size = 0

    def set_implicit_key(self, key: tuple[Any, ...]) -> None:
        """Make a grouping key the current one; the server learns of it with the next request."""
        if key is not self._key:
            self.begin(key, self.sent_key(key), {})

    def sent_key(self, key: tuple[Any, ...]) -> Sent:
        """Return a key as it is sent."""
        return self._keys.sent(key)

    def begin(self, key: tuple[Any, ...], sent: Sent, held: dict[Read, Any]) -> None:
        """Make a key the current one.

        Args:
            key: the key; `set_implicit_key` of the same object then changes nothing.
            sent: what `sent_key` returns for it.
            held: what is known of its state. This client changes it.
        """
        self._key = key
        self._sent_key = sent
        self._known_there = False
        self._held = held
        self._of_key = None
        self.asked = set()
        self.asked_user_keys = []

    def remove_implicit_key(self) -> None:
        """Make no grouping key the current one."""
        self._key = None
        self._known_there = True
        self._held = {}
        super().remove_implicit_key()

    def held(self, read: Read) -> tuple[bool, Any]:
        """Take note of a read; return whether what it finds is here, and that."""
        if len(self.asked) < MOST_KEPT or read[0] != _wire.READ_ENTRIES:
            self.asked.add(read)
        if read in self._held:
            return True, self._held[read]
        return False, None

    def note_user_key(self, state: PipelinedMapState, user_key: tuple[Any, ...]) -> None:
        """Take note that a handler asks for an entry of a map."""
        if len(self.asked_user_keys) < ASKED_LOOKED_AT:
            self.asked_user_keys.append((state, user_key))

    def known(self, read: Read) -> Any:
        """Return what a read would find, if that is here and something."""
        return self._held.get(read)

    def hold(self, read: Read, found: Any) -> None:
        """Keep what a read will find, for there was a change.

        Entries for which there is no room are not here before either, so that none here is old.
        """
        held = self._held
        if len(held) < MOST_KEPT or read in held or read[0] != _wire.READ_ENTRIES:
            held[read] = found

    def forget(self, *reads: Read) -> None:
        """Let what reads found be asked for again."""
        for read in reads:
            self._held.pop(read, None)

    def forget_all(self, name: str) -> None:
        """Let all that is known of a state be asked for again."""
        for read in [read for read in self._held if read[1] == name]:
            del self._held[read]

    def change(self, change: tuple[Any, ...], size: int = 0) -> None:
        """Keep a change of the current key's state until it is sent.

        Args:
            change: what changes, as it is sent.
            size: about how many bytes of it there are beyond what every change has.

        Raises:
            PySparkRuntimeError: no key is the current one, as in `init` and `close`.
        """
        if self._key is None:
            raise PySparkRuntimeError(
                "Error changing state: there is no grouping key whose state it is. Change state in "
                "handleInputRows, handleExpiredTimer or handleInitialState, and not in init or "
                "close."
            )
        if self._of_key is None:
            self._of_key = []
            self._changes += (self._sent_key, self._of_key)
        self._of_key.append(change)
        self._count += 1
        self._size += size
        if self._count >= _MOST_CHANGES or self._size >= _MOST_CHANGED_BYTES:
            self.send_changes()

    def send_changes(self) -> None:
        """Send the changes that wait."""
        if self._changes:
            self.stream.tell_all(_wire.in_bulk((_wire.CHANGE, self._changes)))
            self._changes = []
            self._of_key = None
            self._count = 0
            self._size = 0

    def ask(
        self, keys: Sequence[Sent], reads: Sequence[Read], before: Sequence[Sent] = ()
    ) -> Pending:
        """Ask for the state of keys that are not the current one.

        Args:
            keys: the keys.
            reads: what of each.
            before: keys whose handlers run before theirs and were in no such question.
        """
        request = (_wire.READ, list(keys), list(reads), list(before))
        return self.stream.ask(_wire.in_bulk(request))

    def answer(self, pending: Pending) -> list[list[Any]]:
        """Return what was found: for each read a list with what there is for each key."""
        found: list[list[Any]] = pickle.loads(self.stream.answer(pending))
        return found

    def register_timer(self, expiry_time_stamp_ms: int) -> None:
        """Register a timer for the current key."""
        self.change((_wire.REGISTER_TIMER, _as_sent(expiry_time_stamp_ms)))

    def delete_timer(self, expiry_time_stamp_ms: int) -> None:
        """Delete a timer of the current key."""
        self.change((_wire.DELETE_TIMER, _as_sent(expiry_time_stamp_ms)))

    def _send_proto_message(self, message: bytes) -> None:
        self.asked_live += 1
        self.send_changes()
        if not self._known_there:
            key = self._sent_key
            if not isinstance(key, bytes):
                key = self._serialize_to_bytes(self.key_schema, key)
            self.stream.tell(_wire.set_key(key), "setting implicit key")
            self._known_there = True
        self.stream.forward(_wire.frame(message))


def _as_sent(expiry_time_stamp_ms: int) -> int:
    """Return the time of a timer as Spark's message has it, which takes no other number."""
    import pyspark.sql.streaming.proto.StateMessage_pb2 as messages

    timer = messages.RegisterTimer(expiryTimestampMs=expiry_time_stamp_ms)
    return timer.expiryTimestampMs

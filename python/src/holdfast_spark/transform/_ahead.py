"""Asks for the state of many keys at once, where handlers have shown what they ask."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast_spark.transform import _wire
from holdfast_spark.transform._client import MOST_KEPT
from holdfast_spark.transform._user_keys import UserKeys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast_spark.transform._client import PipelinedApiClient, Read
    from holdfast_spark.transform._form import Sent
    from holdfast_spark.transform._groups import Group
    from holdfast_spark.transform._stream import Pending

_FIRST_WINDOW = 4
_GROWTH = 8
_LARGEST_WINDOW = 512
# A read in vain costs a small part of a round trip.
_ASKED_BY_ONE_OF = 4
_ANSWER_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Window:
    """Groups that follow each other, and what is asked of each."""

    groups: Sequence[Group]
    keys: Sequence[Sent]
    reads: Sequence[Read]
    entries: Sequence[tuple[str, Sequence[Sequence[Sent]]]]
    pending: Pending | None


class Ahead:
    """Goes through the keys of a task, and asks for what their handlers will ask.

    It learns from the window of keys before: what one in four of them read is asked for each key of
    the next window. The state of a key changes through its own handler alone, so an answer that
    came before its handler began is the one that the handler would get. Keys that the server sees
    come again, as a NaN does, it gives no answer for; their handlers ask when they need it.

    Windows begin small and grow; where answers are large they shrink. Two are under way.
    """

    def __init__(self, client: PipelinedApiClient) -> None:
        self._client = client
        self._expected: list[Read] = []
        self._user_keys = UserKeys()
        self._window = _FIRST_WINDOW
        self._too_much = False

    def through(self, groups: Sequence[Group]) -> Iterator[Group]:
        """Yield the groups; while one is out, its key is the client's current one."""
        at = 0
        window = self._asked(groups, at, ())
        while window.groups:
            at += len(window.groups)
            # Before the handlers of this one, so that the server works while they do. Their changes
            # are not there yet: of a key that this window has as well, the answer would be old. The
            # server gives none for keys of the question before. Of a window without one, as the
            # first, it does not know the keys, and has to be told them.
            unknown = window.keys if window.pending is None else ()
            following = self._asked(groups, at, unknown)
            yield from self._through(window)
            self._client.send_changes()
            window = following

    def _through(self, window: _Window) -> Iterator[Group]:
        client, learn = self._client, self._user_keys.learn
        received = client.stream.received_bytes
        all_held = self._held(window)
        asked: Counter[Read] = Counter()
        for group, key, held in zip(window.groups, window.keys, all_held, strict=True):
            client.begin(group.key, key, held)
            yield group
            held.clear()  # all of a window would be kept till its end
            _count(asked, client.asked)
            if client.asked_user_keys:
                learn(client.asked_user_keys, group.values)
        self._adapt(asked, len(window.groups), client.stream.received_bytes - received)

    def _asked(self, groups: Sequence[Group], at: int, before: Sequence[Sent]) -> _Window:
        """Return the next window, with what is asked of it under way.

        Args:
            groups: all of them.
            at: where it begins.
            before: the keys of the window before it, where the server does not know them since
                nothing was asked of them.
        """
        part = groups[at : at + self._window]
        keys = [self._client.sent_key(group.key) for group in part]
        reads = [read for read in self._expected if read[0] != _wire.READ_ENTRIES]
        entries = self._entries(part)
        asked = [*reads, *((_wire.READ_ENTRIES, name, of_keys) for name, of_keys in entries)]
        pending = self._client.ask(keys, asked, before) if part and asked else None
        return _Window(part, keys, reads, entries, pending)

    def _entries(self, groups: Sequence[Group]) -> list[tuple[str, list[list[Sent]]]]:
        """Return the maps of which entries are read, and for each group the user's keys."""
        always: dict[str, list[Sent]] = {}
        for read in self._expected:
            if read[0] == _wire.READ_ENTRIES:
                always.setdefault(read[1], []).append(read[2])
        found = {name: [list(keys) for _ in groups] for name, keys in always.items()}
        for at, group in enumerate(groups):
            for _, name, key in self._user_keys.of(group.values):
                of_map = found.get(name)
                if of_map is None:
                    of_map = found[name] = [[] for _ in groups]
                if key not in of_map[at]:
                    of_map[at].append(key)
        return list(found.items())

    def _held(self, window: _Window) -> list[dict[Read, Any]]:
        if window.pending is None:
            return [{} for _ in window.groups]
        answers = self._client.answer(window.pending)
        held: list[dict[Read, Any]] = [{} for _ in window.groups]
        self._too_much = False
        plain = len(window.reads)
        for read, found in zip(window.reads, answers[:plain], strict=True):
            for known, of_key in zip(held, found, strict=True):
                self._hold(known, read, of_key)
        for (name, of_keys), of_map in zip(window.entries, answers[plain:], strict=True):
            for known, user_keys, found in zip(held, of_keys, of_map, strict=True):
                all_found = found or [_wire.NOT_SENT] * len(user_keys)
                for key, of_key in zip(user_keys, all_found, strict=True):
                    self._hold(known, (_wire.READ_ENTRIES, name, key), of_key)
        return held

    def _hold(self, known: dict[Read, Any], read: Read, found: Any) -> None:
        if found is _wire.NOT_SENT:
            self._too_much = True
        else:
            known[read] = found

    def _adapt(self, asked: Counter[Read], keys: int, received: int) -> None:
        self._expected = [
            read
            for read, count in asked.items()
            if count * _ASKED_BY_ONE_OF >= keys and not self._user_keys.covers(read)
        ]
        self._window = min(keys * _GROWTH, _LARGEST_WINDOW)
        if self._too_much:  # for one answer: keys at its end are asked for one by one
            self._window = max(1, keys // 2)
        elif received > _ANSWER_BYTES:
            self._window = max(1, keys * _ANSWER_BYTES // received)


def _count(asked: Counter[Read], of_key: set[Read]) -> None:
    """Count the reads of a key among those of its window, of entries only so many."""
    for read in of_key:
        if len(asked) < MOST_KEPT or read in asked or read[0] != _wire.READ_ENTRIES:
            asked[read] += 1

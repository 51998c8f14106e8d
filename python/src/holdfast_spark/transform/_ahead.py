"""Asks for the state of many keys at once, where handlers have shown what they ask."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast_spark.transform import _wire
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
    the next window. The state of a key changes through its own handler alone, and a key comes once,
    so an answer that came before its handler began is the one that the handler would get.

    Windows begin small and grow; where answers are large they shrink. Two are under way.
    """

    def __init__(self, client: PipelinedApiClient) -> None:
        self._client = client
        self._expected: list[Read] = []
        self._user_keys = UserKeys()
        self._window = _FIRST_WINDOW
        self._too_large = False

    def through(self, groups: Sequence[Group]) -> Iterator[Group]:
        """Yield the groups; while one is out, its key is the client's current one."""
        at = 0
        window = self._asked(groups, at)
        while window.groups:
            at += len(window.groups)
            # Before the handlers of this one, so that the server works while they do.
            following = self._asked(groups, at)
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
            asked.update(client.asked)
            if client.asked_user_keys:
                learn(client.asked_user_keys, group.values)
        self._adapt(asked, len(window.groups), client.stream.received_bytes - received)

    def _asked(self, groups: Sequence[Group], at: int) -> _Window:
        """Return the next window, with what is asked of it under way."""
        part = groups[at : at + self._window]
        keys = [self._client.sent_key(group.key) for group in part]
        reads = [read for read in self._expected if read[0] != _wire.READ_ENTRIES]
        entries = self._entries(part)
        asked = [*reads, *((_wire.READ_ENTRIES, name, of_keys) for name, of_keys in entries)]
        pending = self._client.ask(keys, asked) if part and asked else None
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
        plain = len(window.reads)
        held = [
            dict(zip(window.reads, found, strict=True))
            for found in zip(*answers[:plain], strict=True)
        ] or [{} for _ in window.groups]
        self._too_large = any(
            None in found
            for (kind, _), found in zip(window.reads, answers[:plain], strict=True)
            if kind != _wire.READ_VALUE
        )
        for (name, of_keys), of_map in zip(window.entries, answers[plain:], strict=True):
            for known, user_keys, found in zip(held, of_keys, of_map, strict=True):
                for key, values in zip(user_keys, found, strict=True):
                    known[_wire.READ_ENTRIES, name, key] = values
        return held

    def _adapt(self, asked: Counter[Read], keys: int, received: int) -> None:
        self._expected = [
            read
            for read, count in asked.items()
            if count * _ASKED_BY_ONE_OF >= keys and not self._user_keys.covers(read)
        ]
        self._window = min(keys * _GROWTH, _LARGEST_WINDOW)
        if self._too_large:  # for one answer: keys at its end are asked for one by one
            self._window = max(1, keys // 2)
        elif received > _ANSWER_BYTES:
            self._window = max(1, keys * _ANSWER_BYTES // received)

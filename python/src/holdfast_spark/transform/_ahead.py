"""Asks for the state of many keys at once, where handlers have shown what they ask."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast_spark.transform._client import Read
from holdfast_spark.transform._stream import NOTHING_THERE, Pending
from holdfast_spark.transform._user_keys import UserKeys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast_spark.transform._client import Held, PipelinedApiClient
    from holdfast_spark.transform._groups import Group

_FIRST_WINDOW = 4
_GROWTH = 8
_LARGEST_WINDOW = 512
# A read in vain costs about a fifth of a round trip.
_ASKED_BY_ONE_OF = 4
_ANSWER_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Window:
    """Groups that follow each other, and what is under way for each."""

    groups: Sequence[Group]
    requests: Sequence[bytes]
    wanted: Sequence[Sequence[Read]]
    held: Sequence[Held]


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
        self._iterations = 0

    def through(self, groups: Sequence[Group]) -> Iterator[Group]:
        """Yield the groups; while one is out, its key is the client's current one."""
        at = 0
        window = self._asked(groups, at)
        while window.groups:
            at += len(window.groups)
            # Before the handlers of this one, so that the server works while they do.
            following = self._asked(groups, at)
            self._ask_found(window)
            yield from self._through(window)
            window = following

    def _through(self, window: _Window) -> Iterator[Group]:
        client = self._client
        received = client.stream.received_bytes
        asked: Counter[Read] = Counter()
        for group, request, held in zip(window.groups, window.requests, window.held, strict=True):
            client.begin(group.key, request, held)
            yield group
            asked.update(set(client.asked))
            self._user_keys.learn(client.asked_user_keys, group.values)
        self._adapt(asked, len(window.groups), client.stream.received_bytes - received)

    def _asked(self, groups: Sequence[Group], at: int) -> _Window:
        """Return the next window, with what is to be asked without looking."""
        part = groups[at : at + self._window]
        requests = [self._client.request_of(group.key) for group in part]
        wanted = [self._wanted(group) for group in part]
        window = _Window(part, requests, wanted, [{} for _ in part])
        for reads, request, held in zip(wanted, requests, window.held, strict=True):
            self._send(request, held, [(read, read.guard or read.request) for read in reads])
        return window

    def _ask_found(self, window: _Window) -> None:
        """Ask for what is there, as the server has said by now."""
        for reads, request, held in zip(window.wanted, window.requests, window.held, strict=True):
            guarded = [read for read in reads if read.guard]
            if guarded:
                self._send(request, held, list(self._found(held, guarded)))

    def _wanted(self, group: Group) -> list[Read]:
        derived = self._user_keys.of(group.values)
        if not derived:
            return self._expected
        return list(dict.fromkeys([*derived, *self._expected]))

    def _found(self, held: Held, reads: Iterable[Read]) -> Iterator[tuple[Read, bytes]]:
        """Yield the reads of what is there, and keep of the others that it is not."""
        for read in reads:
            known = held[read.calls]
            guard = read.guard or read.request
            answer = self._client.stream.answer(known[guard])
            if not answer:
                yield read, read.request
            elif answer.startswith(NOTHING_THERE):
                known[read.request] = Pending.answered(b"")
            else:  # an error, which comes to the handler when it asks
                del known[guard]

    def _send(self, request: bytes, held: Held, reads: Iterable[tuple[Read, bytes]]) -> None:
        stream = self._client.stream
        told = False
        for read, known_as in reads:
            known = held.setdefault(read.calls, {})
            if known_as in known:
                continue
            if not told:
                stream.tell(request, "setting implicit key")
                told = True
            known[known_as] = stream.ask(self._named(read, known_as))

    def _named(self, read: Read, request: bytes) -> bytes:
        call = self._client.iterations.get(request)
        if call is None:
            return request
        self._iterations += 1
        return read.calls.page(call, f"ahead-{self._iterations}")

    def _adapt(self, asked: Counter[Read], keys: int, received: int) -> None:
        self._expected = [
            read
            for read, count in asked.items()
            if count * _ASKED_BY_ONE_OF >= keys and not self._user_keys.covers(read)
        ]
        self._window = min(keys * _GROWTH, _LARGEST_WINDOW)
        if received > _ANSWER_BYTES:
            self._window = max(1, keys * _ANSWER_BYTES // received)

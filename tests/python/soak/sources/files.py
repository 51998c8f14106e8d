"""A folder of files: they come, come late, and go."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from soak.events import Events
from soak.sources import Stream, offset_of
from soak.sources.feed import Fed

if TYPE_CHECKING:
    from soak.process import Job

_LATE = 0.2
# A generation later no event is dropped; so much later all are, unless the query stands still.
_GENERATIONS_LATE = (1, 1, 6)
_OLDER_SECONDS = 3600.0
_LOST = _KILLED_AFTER_A_LISTING = 0.5


class Files(Fed):
    """Each generation comes in a few files, some of them after later ones, with an older time.

    Files are removed after they were read, before they are listed, and between their listing and
    the batch that was to read them.
    """

    def __init__(self, folder: Path, events: Events, seed: int, *, at_most: int | None) -> None:
        """Make a source that is fed once it is entered.

        Args:
            folder: takes the files.
            events: what the numbers in them stand for.
            seed: says what happens, up to when.
            at_most: so many files in a batch, any number for None.
        """
        super().__init__(events, seed)
        folder.mkdir()
        self._folder = folder
        self._at_most = at_most
        self._files: dict[str, list[int]] = {}
        self._late: list[tuple[int, str]] = []
        self._read_to = -1
        self._in_batches: list[str] = []
        self._lost: set[str] = set()

    def stream(self) -> Stream:
        options = {} if self._at_most is None else {"maxFilesPerTrigger": str(self._at_most)}
        options["path"] = str(self._folder)
        return Stream(format="json", options=options, schema="value long", value="value")

    def deliver(self, generation: int, drawn: random.Random) -> None:
        numbers = [*self.events.numbers(generation)]
        drawn.shuffle(numbers)
        pieces = drawn.randint(1, 3)
        for piece in range(pieces):
            name = f"{generation}-{piece}.json"
            self._files[name] = numbers[piece::pieces]
            if drawn.random() < _LATE:
                self._late.append((generation + drawn.choice(_GENERATIONS_LATE), name))
            else:
                self._write(name)
        self._deliver_late(generation, drawn)

    def _deliver_late(self, generation: int, drawn: random.Random) -> None:
        for due, name in [*self._late]:
            if due <= generation:
                self._late.remove((due, name))
                self._write(name, older=drawn.uniform(0, _OLDER_SECONDS))
                self.happened["files late"] += 1

    def _write(self, name: str, *, older: float = 0) -> None:
        half = self._folder / f".{name}"
        half.write_text("".join(json.dumps({"value": n}) + "\n" for n in self._files[name]))
        if older:
            time = half.stat().st_mtime - older
            os.utime(half, (time, time))
        half.rename(self._folder / name)
        self.happened["files"] += 1

    def finish(self) -> None:
        super().finish()
        for _, name in self._late:
            self._write(name)
        self._late.clear()

    def read(self, checkpoint: Path, batch: int) -> Sequence[int]:
        before, self._read_to = self._read_to, offset_of(checkpoint, batch)["logOffset"]
        names = [
            name
            for entry in range(before + 1, self._read_to + 1)
            for name in _listed(checkpoint, entry)
            if name not in self._lost
        ]
        self._in_batches += names
        numbers = [number for name in names for number in self._files[name]]
        self.note_read(numbers)
        return numbers

    def produced(self, read: Counter[int]) -> Counter[int]:  # noqa: ARG002 - it knows better
        kept = self._files.keys() - self._lost
        return Counter(number for name in kept for number in self._files[name])

    def trouble(self) -> None:
        if self._in_batches:
            self._remove(self._in_batches.pop(self.random.randrange(len(self._in_batches))))
            self.happened["files removed after they were read"] += 1

    def moment(self, job: Job) -> Callable[[], bool] | None:
        if self.random.random() > _KILLED_AFTER_A_LISTING:
            return None
        return lambda: _newest_listed(job.checkpoint) > _planned(job)

    def without_driver(self, job: Job) -> None:
        planned, newest = _planned(job), _newest_listed(job.checkpoint)
        listed = [
            name
            for entry in range(planned + 1, newest + 1)
            for name in _listed(job.checkpoint, entry)
        ]
        self.happened["drivers killed after a listing"] += bool(listed)
        with self.delivering:
            known = {name for entry in range(newest + 1) for name in _listed(job.checkpoint, entry)}
            here = {file.name for file in self._folder.glob("[0-9]*.json")}
            self._lose(listed, "files removed after they were listed")
            self._lose(sorted(here - known), "files removed before they were listed")

    def _lose(self, names: list[str], what: str) -> None:
        if names and self.random.random() < _LOST:
            name = self.random.choice(names)
            self._remove(name)
            self._lost.add(name)
            self.happened[what] += 1

    def _remove(self, name: str) -> None:
        (self._folder / name).unlink()
        self.removed.add(name)


def _planned(job: Job) -> int:
    """The last entry of the source's log that a batch reads."""
    batch = job.planned()
    return int(offset_of(job.checkpoint, batch)["logOffset"]) if batch >= 0 else -1


def _log(checkpoint: Path) -> Path:
    return checkpoint / "sources" / "0"


def _newest_listed(checkpoint: Path) -> int:
    log = _log(checkpoint)
    names = [file.stem for file in log.glob("[0-9]*")] if log.exists() else []
    return max((int(name) for name in names if name.isdigit()), default=-1)


def _listed(checkpoint: Path, entry: int) -> Iterator[str]:
    """Yield the names of the files in an entry of the source's log."""
    log = _log(checkpoint)
    compacted = log / f"{entry}.compact"
    file = compacted if compacted.exists() else log / str(entry)
    for line in file.read_text().splitlines()[1:]:
        found = json.loads(line)
        if found["batchId"] == entry:
            yield Path(unquote(urlparse(found["path"]).path)).name

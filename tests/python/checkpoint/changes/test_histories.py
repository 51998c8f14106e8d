"""Histories of changes by every command, interrupted at any file operation, of one checkpoint.

Each ends with the checkpoint as it was before, or as the change makes it; or the command has said
what to run, and that leads to one of the two, however often it is interrupted itself.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from checkpoint.budget import THOROUGH, drawn
from checkpoint.changes.query_model import Query, Seen, look, rows
from checkpoint.checkpoints import AT_ONCE
from checkpoint.faults import Attempt, KilledError, attempt, content, full_disk
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.changes.savepoint import make_savepoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError, NotACheckpointError
from holdfast_spark.checkpoint.files.journals import BACKUPS, unfinished
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.providers import PROVIDERS

Command = Callable[[Checkpoint], object]

# The file operation that fails, counted from 1; 0 for none.
cuts = st.one_of(st.just(0), st.integers(1, 12), st.integers(1, 90))
ends = st.sampled_from([KilledError, full_disk])


class Histories(RuleBasedStateMachine):
    """The query, the commands, and what the checkpoint has to be."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-"))
        self.copies = 0

    @initialize()
    def begin(self) -> None:
        self.query = Query(self.folder / "c")
        self.path = self.query.path

    @rule(added=st.integers(0, 3), remove=st.booleans())
    def batch(self, added: int, remove: bool) -> None:
        if len(self.query.after[self.query.newest]) > 2:
            self.query.run_batch(added, remove=remove)

    @rule(to=st.sampled_from(["holdfast", "hdfs"]), at=cuts, end=ends, again=cuts)
    def migrated(self, to: str, at: int, end: type[BaseException], again: int) -> None:
        command = partial(migrate, to=to, apply=True, stopped=True, settled=timedelta(0))
        self._change(command, at, end, again, provider=PROVIDERS[to])

    @rule(number=st.integers(1, 4), at=cuts, end=ends, again=cuts)
    def repartitioned(self, number: int, at: int, end: type[BaseException], again: int) -> None:
        command = partial(repartition, partitions=number, apply=True, stopped=True, settled=AT_ONCE)
        self._change(command, at, end, again, partitions=number)

    @rule(at=cuts, end=ends, again=cuts)
    def rebuilt(self, at: int, end: type[BaseException], again: int) -> None:
        """A snapshot is damaged that older files lead to, and rebuilt."""
        file = self.path / "state/0/0/3.snapshot"
        if not all((file.parent / name).exists() for name in (file.name, "1.delta", "3.delta")):
            return
        before = look(self.path)
        cut = file.read_bytes()[:20]
        file.write_bytes(cut)
        self._finish(self._attempt(partial(repair, apply=True, settled=AT_ONCE), at, end), again)
        if file.read_bytes() == cut:  # undone, so that the damage is there again
            repair(Checkpoint.open(str(self.path)), apply=True, settled=AT_ONCE)
        assert look(self.path) == before

    @rule(at=cuts, end=ends, again=cuts)
    def taken_back(self, at: int, end: type[BaseException], again: int) -> None:
        """The newest delta of a partition is cut, and its batch given up."""
        newest = self.query.newest
        file = self.path / f"state/0/0/{newest + 1}.delta"
        older = self.path / f"state/0/0/{newest}.delta"
        if not (file.exists() and older.exists() and newest - 1 in self.query.after):
            return
        whole_file = file.read_bytes()
        file.write_bytes(whole_file[:20])
        command = partial(repair, drop_tail=True, apply=True, stopped=True, settled=AT_ONCE)
        before = content(self.path)
        tried = self._attempt(command, at, end)
        self._finish(tried, again)
        if content(self.path) == before:
            assert tried.error is not None
            file.write_bytes(whole_file)
        else:
            self.query.after[newest] = dict(self.query.after[newest - 1])

    @rule(at=cuts, end=ends)
    def saved(self, at: int, end: type[BaseException]) -> None:
        self.copies += 1
        target = self.folder / f"copy-{self.copies}"
        before = content(self.path)
        tried = self._attempt(partial(make_savepoint, target=str(target)), at, end)
        assert content(self.path) == before
        try:
            copy = Checkpoint.open(str(target))
        except NotACheckpointError:
            assert tried.error is not None
            return
        # One that was cut short is none, or is refused, or goes on from the same batch.
        assert tried.error is None or isinstance(tried.error, KilledError)
        if tried.error is None or verify_checkpoint(copy).goes_on:
            assert rows(target) == self.query.after[self.query.newest]
            assert copy.newest_committed == self.query.newest
            # Without the plan before that batch, as after one was given up, the next one is there.
            is_alone = self.query.newest - 1 not in Checkpoint.open(self.path).planned
            assert copy.planned[-1] == self.query.newest + is_alone

    @invariant()
    def is_as_the_query_left_it(self) -> None:
        """Every change keeps the rows, and the query can go on."""
        seen = look(self.path)
        assert dict(seen.rows) == self.query.after[self.query.newest]
        assert seen.goes_on
        assert (seen.provider, seen.partitions) == self.query.pinned()

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def _change(
        self, command: Command, at: int, end: type[BaseException], again: int, **made: object
    ) -> None:
        """Make a change that is cut off, and what the command says then."""
        before, files = look(self.path), content(self.path)
        tried = self._attempt(command, at, end)
        self._finish(tried, again)
        if content(self.path) == files:
            # Undone; or there was nothing to be done.
            assert tried.error is not None or self._has(before, made)
            return
        after = look(self.path)
        assert self._has(after, made)
        assert after.rows == before.rows

    @staticmethod
    def _has(seen: Seen, made: dict[str, object]) -> bool:
        return all(getattr(seen, name) == value for name, value in made.items())

    def _attempt(self, command: Command, at: int, end: Callable[[], BaseException]) -> Attempt:
        checkpoint = Checkpoint.open(str(self.path))
        with pytest.MonkeyPatch.context() as patch:
            return attempt(patch, at, end, lambda: command(checkpoint))

    def _finish(self, tried: Attempt, again: int) -> None:
        """Run what the command has said, which is cut off once, too."""
        if not unfinished(Location.of(str(self.path))):
            return
        told = "repair --apply" in str(tried.error) or isinstance(tried.error, KilledError)
        assert told, tried.error
        with pytest.raises(CheckpointError, match="repair --apply"):
            repartition(Checkpoint.open(str(self.path)), 2, settled=AT_ONCE)
        self._attempt(partial(repair, apply=True, settled=AT_ONCE), again, KilledError)
        repair(Checkpoint.open(str(self.path)), apply=True, settled=AT_ONCE)
        assert not unfinished(Location.of(str(self.path)))
        left = [file for file in (self.path / BACKUPS).rglob("new") if file.is_dir()]
        assert not left


TestHistories = pytest.mark.fuzz(Histories.TestCase)
TestHistories.settings = drawn(few=8, many=40, steps=20 if THOROUGH else 8)

"""Changes of checkpoints that fail at every single file operation."""

from __future__ import annotations

import itertools
import re
from functools import partial
from pathlib import Path

import pytest

from checkpoint.changes.changed import (
    COMMANDS,
    each_command,
    each_command_in_place,
    numbers,
    sound,
)
from checkpoint.checkpoints import AT_ONCE
from checkpoint.faults import attempt, content, full_disk, no_permission, read_only
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.savepoint import make_savepoint
from holdfast_spark.checkpoint.files.journals import BACKUPS, unfinished
from holdfast_spark.checkpoint.files.location import Location


@each_command
def test_a_failure_leaves_the_checkpoint_as_it_was(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, command = COMMANDS[name]
    before = content(make(tmp_path / "before"))
    failures = 0
    # Whichever the file system has, it goes the same way.
    for at, error in zip(numbers(name), itertools.cycle((full_disk, no_permission))):
        path = make(tmp_path / f"{at}")
        checkpoint = Checkpoint.open(str(path))
        tried = attempt(monkeypatch, at, error, partial(command, checkpoint))
        assert not unfinished(checkpoint.location)
        # A failure may be harmless, such as that of making a folder that is there; and what is
        # decided is tried again.
        assert (content(path) == before) == (tried.error is not None)
        if not tried.reached:
            break
        if tried.error:
            failures += 1
            assert str(error().strerror) in str(tried.error)
    assert failures > 5


def test_a_savepoint_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    before = content(path)
    for at in itertools.count(1):
        target = tmp_path / f"copy-{at}"
        command = partial(make_savepoint, Checkpoint.open(str(path)), Location.of(str(target)))
        tried = attempt(monkeypatch, at, full_disk, command)
        assert content(path) == before
        if not tried.reached:
            break
        if tried.error:
            assert "No space left on device" in str(tried.error)
            assert not target.exists()
    assert at > 10


@each_command_in_place
def test_a_checkpoint_that_may_only_be_read_is_what_the_sentence_tells(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, change = COMMANDS[name]
    path = make(tmp_path / "checkpoint")
    before = content(path)
    tried = attempt(monkeypatch, 1, read_only, lambda: change(Checkpoint.open(str(path))))
    assert re.fullmatch(
        rf"Cannot (write|make) {path}/holdfast-backup\S*: Read-only file system\.", str(tried.error)
    )
    assert content(path) == before
    assert not (path / BACKUPS).exists()


def test_a_change_that_has_not_begun_leaves_what_it_cannot_remove_to_repair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    before = content(path)
    for at in itertools.count(2):
        tried = attempt(
            monkeypatch,
            at,
            read_only,
            lambda: migrate(Checkpoint.open(str(path)), "holdfast", apply=True, settled=AT_ONCE),
        )
        if unfinished(Location.of(str(path))):
            break
        assert re.fullmatch(
            r"Cannot (write|make|copy) \S*: Read-only file system\.", str(tried.error)
        )
        assert content(path) == before
        assert repair(Checkpoint.open(str(path)), apply=True, settled=AT_ONCE).complete
        assert not (path / BACKUPS).exists() or not list((path / BACKUPS).iterdir())
    assert at > 3

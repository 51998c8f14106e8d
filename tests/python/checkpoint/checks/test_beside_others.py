"""What is read of a checkpoint whose query, or another command, removes files meanwhile."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from checkpoint.checkpoints import AT_ONCE, counts, row
from checkpoint.checks.harm import verified
from holdfast_spark.checkpoint import (
    Checkpoint,
    make_savepoint,
    migrate,
    repair,
    repartition,
    verify_checkpoint,
)
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.errors import ChangedMeanwhileError, CleanedUpError, RunningQueryError

STATE = "state/0/0"
LAST = 8
Change = Callable[..., Any]
CHANGES: dict[str, Change] = {
    "migrate": lambda path, **more: migrate(Checkpoint.open(path), "holdfast", **more),
    "repartition": lambda path, **more: repartition(Checkpoint.open(path), 3, **more),
    "repair": lambda path, **more: repair(Checkpoint.open(path), **more),
    "repair --drop-tail": lambda path, **more: repair(
        Checkpoint.open(path), drop_tail=True, **more
    ),
}
each_change = pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))


def running(folder: Path) -> Path:
    """The checkpoint of a query that has committed nine batches."""
    files = {f"{version}.delta": [row(1, version)] for version in range(1, LAST + 2)}
    files |= {f"{version}.snapshot": [row(1, version)] for version in (3, 6)}
    return counts(folder / "checkpoint", files, batches=LAST + 1)


def go_on(path: Path) -> None:
    """Let the query commit ten more batches, and keep the last two of all."""
    newest = max(int(file.name) for file in (path / "commits").iterdir()) + 10
    files = {f"{version}.delta": [row(1, version)] for version in range(newest, newest + 2)}
    made = counts(
        path.parent / f"to {newest}", {f"{newest}.snapshot": [row(1, newest)], **files}, batches=1
    )
    for log in ("offsets", "commits"):
        content = (made / log / "0").read_bytes()
        for batch in (newest - 1, newest):
            (path / log / str(batch)).write_bytes(
                content.replace(b'"batchTimestampMs": 1000', b'"batchTimestampMs": %d000' % batch)
            )
        for file in (path / log).iterdir():
            if int(file.name) < newest - 1:
                file.unlink()
    for file in (path / STATE).glob("*.*"):
        file.unlink()
    for file in (made / STATE).glob("*.*"):
        file.rename(path / STATE / file.name)


@contextmanager
def before_reading(
    monkeypatch: pytest.MonkeyPatch, part: str, do: Callable[[], object]
) -> Iterator[list[str]]:
    """Do something before the first file is opened whose path has that part."""
    done: list[str] = []
    opened = Location.open

    def late(location: Location) -> IO[bytes]:
        if part in location.path and not done:
            done.append(location.path)
            do()
        return opened(location)

    with monkeypatch.context() as patch:
        patch.setattr(Location, "open", late)
        yield done
    assert done


def test_old_files_that_the_query_removes_while_they_are_read_are_no_damage(
    tmp_path: Path,
) -> None:
    path = running(tmp_path)
    content = (path / STATE / "2.delta").read_bytes()
    sums = struct.pack(">4sII", b"crc\0", 512, zlib.crc32(content))
    (path / STATE / ".2.delta.crc").write_bytes(sums)

    def clean_up(done: int, _all: int) -> None:
        for name in (".2.delta.crc", "1.delta", "2.delta", "3.delta") if done == 1 else ():
            (path / STATE / name).unlink()

    found = verify_checkpoint(Checkpoint.open(path), on_file=clean_up)
    assert (found.broken, found.sound, found.next_batch) == ((), True, LAST + 1)


def test_a_snapshot_that_goes_before_it_is_held_against_others_is_no_damage(tmp_path: Path) -> None:
    path = running(tmp_path)

    def clean_up(done: int, of_all: int) -> None:
        for version in range(1, 4) if done == of_all else ():
            (path / STATE / f"{version}.delta").unlink()
        if done == of_all:
            (path / STATE / "3.snapshot").unlink()

    assert verify_checkpoint(Checkpoint.open(path), on_file=clean_up).sound


@pytest.mark.parametrize("part", ["/state/0/0/", "/offsets/", "/commits/"])
def test_where_all_has_gone_that_was_listed_the_checkpoint_is_opened_again(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = running(tmp_path)
    with before_reading(monkeypatch, part, lambda: go_on(path)):
        found = verify_checkpoint(Checkpoint.open(path))
    assert (found.broken, found.sound, found.next_batch) == ((), True, LAST + 11)


def test_that_the_query_leaves_no_time_is_said(tmp_path: Path) -> None:
    path = running(tmp_path)

    def clean_up(done: int, _all: int) -> None:
        if done == 1:
            go_on(path)

    with pytest.raises(CleanedUpError, match="runs, and has cleaned up what was being read"):
        verify_checkpoint(Checkpoint.open(path), on_file=clean_up)


@pytest.mark.parametrize("goes_on", [False, True])
def test_what_is_lost_meanwhile_and_needed_is_found(goes_on: bool, tmp_path: Path) -> None:
    path = running(tmp_path)
    lost: list[Path] = []

    def lose(done: int, _all: int) -> None:
        if done == 1 and not lost:
            if goes_on:
                go_on(path)
            lost.append(max((path / STATE).glob("*.delta"), key=lambda file: int(file.stem)))
            lost[0].unlink()

    found = verify_checkpoint(Checkpoint.open(path), on_file=lose)
    assert not found.goes_on
    assert [broken.path for broken in found.broken] == [str(lost[0])]


def test_the_end_of_what_cleanup_removes_is_no_sign_of_a_loss(tmp_path: Path) -> None:
    path = running(tmp_path)
    (path / STATE / "1.delta").unlink()

    def clean_up(done: int, of_all: int) -> None:
        for version in (2, 3) if done == of_all else ():
            (path / STATE / f"{version}.delta").unlink()

    assert verified(path).broken
    assert verify_checkpoint(Checkpoint.open(path), on_file=clean_up).broken == ()


def test_a_savepoint_begins_again_whose_batch_has_gone(tmp_path: Path) -> None:
    path = running(tmp_path)
    checkpoint = Checkpoint.open(path)
    go_on(path)
    done = make_savepoint(checkpoint, tmp_path / "savepoint")
    assert done.batch_id == LAST + 10
    assert verified(tmp_path / "savepoint").sound


@pytest.mark.parametrize("part", ["/state/0/0/", "/offsets/"])
@each_change
def test_a_dry_run_looks_again(
    change: Change, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = running(tmp_path)
    with before_reading(monkeypatch, part, lambda: go_on(path)):
        done = change(path, settled=AT_ONCE)
    assert (done.in_the_way, done.applied, getattr(done, "steps", ())) == ((), False, ())


@each_change
def test_a_change_is_refused(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = running(tmp_path)
    if change is CHANGES["repair"] or change is CHANGES["repair --drop-tail"]:
        (path / STATE / "3.snapshot").write_bytes(b"damage")
    with (
        before_reading(monkeypatch, "/state/0/0/", lambda: go_on(path)),
        pytest.raises(RunningQueryError),
    ):
        change(path, apply=True, settled=AT_ONCE)
    assert verified(path).sound
    assert not (path / "holdfast-backup").exists()


def test_a_change_that_another_command_makes_meanwhile_is_no_damage(tmp_path: Path) -> None:
    path = running(tmp_path)

    def spread(done: int, _all: int) -> None:
        if done == 1 and not (path / "holdfast-backup").exists():
            repartition(Checkpoint.open(path), 3, apply=True, settled=AT_ONCE)

    found = verify_checkpoint(Checkpoint.open(path), on_file=spread)
    assert (found.broken, len(found.stores)) == ((), 3)


def test_of_two_changes_the_second_says_that_there_was_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = running(tmp_path)

    def first() -> None:
        repartition(Checkpoint.open(path), 3, apply=True, settled=AT_ONCE)

    with (
        before_reading(monkeypatch, "/state/0/0/", first),
        pytest.raises(ChangedMeanwhileError, match="expected no other command at work there"),
    ):
        repartition(Checkpoint.open(path), 2, apply=True, settled=AT_ONCE)
    assert verified(path).sound

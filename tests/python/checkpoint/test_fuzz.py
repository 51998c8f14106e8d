"""Logs, metadata, schemas and journals with whatever Hypothesis comes upon in them.

What is read of them, or the error that names the file: nothing else, of readers alone and of
the commands. The seeds are in `tests/corrupt`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoint.budget import drawn
from checkpoint.whole import whole
from harness import ROOT
from holdfast_spark.checkpoint import Checkpoint, inspect_checkpoint, read_rows
from holdfast_spark.checkpoint.changes.own_files import last_write_of_query
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.checksums import first_difference
from holdfast_spark.checkpoint.files.journals import JOURNAL, read_journal
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.log_entries import read_commit_entry, read_offsets_entry
from holdfast_spark.checkpoint.files.logs import read_batch, read_state_ids
from holdfast_spark.checkpoint.files.operators import read_operator
from holdfast_spark.checkpoint.files.schema_file import read_schema_file

SEEDS = sorted(
    file
    for file in (ROOT / "tests" / "corrupt").iterdir()
    if file.is_file() and file.suffix != ".md"
)
# Where a file of each kind lies, and what reads it there.
Reader = Callable[[Location], object]
KINDS: dict[str, tuple[str, tuple[Reader, ...]]] = {
    "schema": ("state/0/0/_metadata/schema", (read_schema_file,)),
    "offsets": ("offsets/4", (read_batch, read_offsets_entry)),
    "commits": ("commits/4", (read_state_ids, read_commit_entry)),
    "operator": (
        "state/0/_metadata/metadata",
        (lambda file: read_operator(file.folder.folder, batch_id=None),),
    ),
    "query": ("metadata", ()),
    "source": ("sources/0/4", ()),
    "journal": (f"holdfast-backup/1/{JOURNAL}", (read_journal,)),
    "written": (
        "holdfast-backup/1/written.jsonl",
        (lambda file: last_write_of_query(file.folder.folder.folder, []),),
    ),
    "checksums": (
        "state/0/0/.5.delta.crc",
        (lambda file: first_difference(file.folder / "5.delta", file),),
    ),
}
# What every command does first, or all the time.
COMMANDS: tuple[Callable[[Path], object], ...] = (
    lambda path: verify_checkpoint(Checkpoint.open(str(path))),
    lambda path: inspect_checkpoint(Checkpoint.open(str(path))),
    lambda path: list(read_rows(Checkpoint.open(str(path)))),
    lambda path: repair(Checkpoint.open(str(path)), drop_tail=True, settled=timedelta(days=1)),
)


def kind_of(seed: Path) -> str:
    return seed.name.partition("-")[0]


def try_readers(kind: str, content: bytes, path: Path) -> None:
    """Read a file of a checkpoint with this content: that goes well, or ends in a sentence."""
    name, readers = KINDS[kind]
    file = path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_bytes() if file.exists() else None
    file.write_bytes(content)
    try:
        place = Location.of(str(path)).as_tree() / name
        for reader in readers:
            try:
                reader(place)
            except CheckpointError as error:
                assert str(path) in str(error)  # noqa: PT017 - it may be none
        for command in COMMANDS:
            try:
                command(path)
            except CheckpointError as error:
                assert str(path) in str(error)  # noqa: PT017 - it may be none
    finally:
        if before is None:
            file.unlink()
        else:
            file.write_bytes(before)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole(tmp_path_factory.mktemp("fuzz") / "c")


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: str(seed.name))
def test_every_seed_is_read_or_refused(seed: Path, path: Path) -> None:
    try_readers(kind_of(seed), seed.read_bytes(), path)


def test_there_are_seeds_of_every_kind() -> None:
    assert {kind_of(seed) for seed in SEEDS} == KINDS.keys()


# Every number that somebody has stumbled over, and names.
odd = st.one_of(
    st.integers(-(1 << 70), 1 << 70),
    st.sampled_from(
        [
            *(0, -1, 1 << 31, 1 << 63, -(1 << 63), 1e308, 10**40, True, None, "", "..", "\0", "/"),
            *("../x", "9" * 30, "long", "decimal(0,0)", "char(99999999999)", "\ud800", "٣"),
        ]
    ),
    st.text(max_size=8),
)
values = st.recursive(
    odd, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
)


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw a content in which some bytes are others, are gone, or come twice."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(changed) - 1, 0)))
        size = draw(st.integers(0, 9))
        new = draw(st.binary(max_size=9) | st.just(bytes(changed[at : at + 40])))
        changed[at : at + size] = new
    return bytes(changed)


@st.composite
def altered(draw: st.DrawFn, value: Any) -> Any:  # noqa: ANN401 - it is JSON
    """Draw a JSON value in which one part is another."""
    if isinstance(value, dict) and value and draw(st.integers(0, 4)):
        name = draw(st.sampled_from(sorted(value)))
        if not draw(st.integers(0, 5)):
            return {other: part for other, part in value.items() if other != name}
        return {**value, name: draw(altered(value[name]))}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], draw(altered(value[at])), *value[at + 1 :]]
    return draw(values)


@st.composite
def altered_lines(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw a content in which the JSON of one line is altered."""
    lines = content.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return draw(damaged(content))
    lines[at] = json.dumps(draw(altered(value))).encode(errors="surrogatepass")
    return b"\n".join(lines)


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_drawn_is_read_or_refused(kind: str) -> None:
    seeds = [seed.read_bytes() for seed in SEEDS if kind_of(seed) == kind]

    with tempfile.TemporaryDirectory() as folder:
        checkpoint = whole(Path(folder) / "c")

        @drawn(few=12, many=200)
        @given(st.sampled_from(seeds).flatmap(lambda s: altered_lines(s) | damaged(s)))
        def read(content: bytes) -> None:
            try_readers(kind, content, checkpoint)

        read()

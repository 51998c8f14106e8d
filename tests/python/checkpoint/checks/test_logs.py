"""What `verify` says of `offsets/` and `commits/`, and of changes that are half made."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from checkpoint.checks.harm import empty, folder_gone, gone, invoke, text, verified
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.files.journals import JOURNAL, Journal, journal_text
from holdfast_spark.cli import main as cli


def test_a_batch_without_its_commit_runs_again(path: Path) -> None:
    gone("commits/4")(path)
    found = verified(path)
    assert (found.sound, found.next_batch, found.reruns) == (True, 4, True)


def test_a_query_without_any_offsets_would_start_anew(path: Path) -> None:
    folder_gone("offsets")(path)
    result = CliRunner().invoke(cli.main, ["verify", str(path)])
    assert result.exit_code == 1
    assert "Spark would start the query anew" in result.stderr


def test_a_change_that_was_cut_off_keeps_the_query_from_starting(path: Path) -> None:
    journal = path / "holdfast-backup/1" / JOURNAL
    journal.parent.mkdir(parents=True)
    journal.write_bytes(journal_text(Journal(fence="offsets/5")))
    (path / "offsets/5").write_text("Holdfast is changing this checkpoint (1)")
    found = verified(path)
    assert not found.goes_on
    (broken,) = found.broken
    assert f"Spark refuses to start at {path / 'offsets/5'}" in broken.error
    assert "Run holdfast repair --apply" in broken.error


def test_inspect_names_a_newest_commit_that_cannot_be_read(path: Path) -> None:
    empty("commits/4")(path)
    shown = " ".join(invoke("inspect", path).stdout.split())
    assert "commits/4 is damaged: expected the version" in shown


def test_commits_of_version_3_are_read(path: Path) -> None:
    text("commits/4", "v1", "v3")(path)
    assert verified(path).broken == ()


def test_damaged_offsets_say_nothing_of_their_commit(path: Path) -> None:
    (path / "offsets/3").write_bytes(b"garbage")
    assert not any("is older than" in file.error for file in verified(path).broken)


def test_offsets_that_the_query_has_cleaned_up_meanwhile_are_no_loss(path: Path) -> None:
    checkpoint = Checkpoint.open(str(path))
    for log in ("offsets", "commits"):
        (path / log / "0").unlink()
    assert verify_checkpoint(checkpoint).goes_on
    assert verify_checkpoint(checkpoint).broken == ()

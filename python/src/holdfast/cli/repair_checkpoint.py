"""The command `holdfast repair`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from holdfast.cli.checkpoint_command import (
    CheckpointCommand,
    apply_option,
    json_option,
    open_checkpoint,
    print_json,
    settled_option,
    storage_option,
)

if TYPE_CHECKING:
    from holdfast.checkpoint.repair import Repair


@click.command("repair", cls=CheckpointCommand, result="holdfast.checkpoint.repair:Repair")
@click.argument("path")
@apply_option
@settled_option
@storage_option
@json_option
def repair(
    path: str, apply: bool, settled: float, storage_options: tuple[str, ...], as_json: bool
) -> None:
    """Rebuild damaged snapshots in the checkpoint at PATH, whose query has to be stopped.

    A damaged snapshot is written again from an older one and the deltas behind it, or set aside
    where a newer snapshot makes it superfluous. Damaged deltas are named and stay as they are: what
    they held is nowhere else. The damaged files are kept below PATH/holdfast-backup. Exit code 0
    means that something is, or with --apply was, done about every damaged file.
    """
    from holdfast.checkpoint.errors import CheckpointError
    from holdfast.checkpoint.repair import repair as repair_checkpoint

    checkpoint = open_checkpoint(path, storage_options)
    done = repair_checkpoint(checkpoint, apply=apply, settled=timedelta(seconds=settled))
    if as_json:
        print_json(done)
    else:
        click.echo(_text(done))
    if not done.complete:
        hopeless = sum(step.action == "none" for step in done.steps)
        raise CheckpointError(
            f"{done.path} has {hopeless} damaged files that cannot be repaired: restore them from "
            "a copy. holdfast verify tells which versions are left."
        )


def _text(done: Repair) -> str:
    if not done.steps:
        return "Nothing is damaged."
    lines = [f"{step.action}: {step.error}" for step in done.steps]
    end = f"The former files are in {done.backup}." if done.applied else "Nothing was changed."
    return "\n".join([*lines, end])

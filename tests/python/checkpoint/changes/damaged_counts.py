"""A checkpoint that counts, what damages and repairs it, and what is in it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from checkpoint.checkpoints import AT_ONCE, Row, content, lz4, records, row
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.repair import Repair, repair
from holdfast_spark.cli import main as cli

VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30)],
    "2.snapshot": [row(2, 20), row(3, 30)],
    "3.delta": [row(3, 31), row(4, 40)],
    "4.delta": [row(5, 50)],
    "4.snapshot": [row(2, 20), row(3, 31), row(4, 40), row(5, 50)],
    "5.delta": [row(5, None)],
}
STATE = {2: 20, 3: 31, 4: 40}


def damage(path: Path, *names: str) -> None:
    for name in names:
        file = path / "state/0/0" / name
        file.write_bytes(file.read_bytes()[:-25])
        file.with_name(f".{name}.crc").write_bytes(b"crc\0")


def done(path: Path, *, apply: bool = True) -> Repair:
    return repair(Checkpoint.open(str(path)), apply=apply, settled=AT_ONCE)


def given_up(path: Path, *, apply: bool = True) -> Repair:
    return repair(Checkpoint.open(str(path)), drop_tail=True, apply=apply, settled=AT_ONCE)


def actions(found: Repair) -> dict[str, str]:
    return {step.path.rpartition("/")[2]: step.action for step in found.steps}


def state(path: Path, batch: int | None = None) -> dict[int, int]:
    pieces = Checkpoint.open(str(path)).read(batch_id=batch)
    rows = [row for piece in pieces for row in piece.to_pylist()]
    return {row["key"]["k"]: row["value"]["n"] for row in rows}


def names(folder: Path) -> set[str]:
    """The files of a checkpoint, without the backups."""
    return {name for name in content(folder) if "holdfast-backup" not in name}


def put(path: Path, name: str, rows: list[Row]) -> None:
    (path / "state/0/0" / name).write_bytes(lz4(records(rows)))


def contents(checkpoint: Checkpoint, version: int) -> list[list[tuple[bytes, bytes]]]:
    """The rows of every store at a version."""
    return [
        sorted(
            row
            for _, records in checkpoint.read_bytes(store, version)
            for row in zip(records.key_bytes(), records.value_bytes(), strict=True)
        )
        for store in checkpoint.stores
    ]


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.main, ["repair", *map(str, arguments), "--settled", "0"])

"""A query that runs batches on a checkpoint without Spark, and knows what its state has to be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from checkpoint.checkpoints import PARTITIONS as PARTITIONS_SETTING
from checkpoint.checkpoints import PROVIDER, Row, long_row, lz4, records
from checkpoint.plans import planned
from checkpoint.whole import whole
from holdfast_spark.checkpoint import Checkpoint, read_rows
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint

Counts = dict[int, int]


@dataclass(frozen=True)
class Seen:
    """What a checkpoint says: rows, provider, partitions and whether the query goes on."""

    rows: tuple[tuple[int, int], ...]
    provider: str
    partitions: int | None
    goes_on: bool


def look(path: Path) -> Seen:
    checkpoint = Checkpoint.open(str(path))
    settings = checkpoint.settings
    return Seen(
        rows=tuple(sorted(rows(path).items())),
        provider=settings.provider_class,
        partitions=settings.shuffle_partitions,
        goes_on=verify_checkpoint(checkpoint).goes_on,
    )


def rows(path: Path) -> Counts:
    return {
        row["key"]["k"]: row["value"]["n"]
        for piece in read_rows(Checkpoint.open(str(path)))
        for row in piece.to_pylist()
    }


class Query:
    """The query; its checkpoint begins with five batches."""

    def __init__(self, folder: Path) -> None:
        self.path = whole(folder)
        # The rows after each batch.
        self.after: dict[int, Counts] = {}
        for batch in range(5):
            counts: Counts = {}
            for piece in read_rows(Checkpoint.open(str(folder)), batch_id=batch):
                counts |= {row["key"]["k"]: row["value"]["n"] for row in piece.to_pylist()}
            self.after[batch] = counts

    @property
    def newest(self) -> int:
        return max(int(file.name) for file in (self.path / "commits").glob("[0-9]*"))

    def run_batch(self, added: int, *, remove: bool) -> None:
        """Run the batch that is planned, or plan one: count on, and give up the smallest key."""
        batch = self.newest + 1
        offsets = self.path / "offsets" / str(batch)
        if not offsets.exists():
            self._plan(batch)
        before = Checkpoint.open(str(self.path))
        wanted = dict(self.after[self.newest])
        for store in before.stores_of(0):
            changed: list[Row] = []
            for piece in before.read(partition=store.partition_id):
                for row in piece.to_pylist():
                    key = row["key"]["k"]
                    if remove and key == min(wanted):
                        changed.append((long_row(key), None))
                    else:
                        changed.append((long_row(key), long_row(row["value"]["n"] + added)))
            folder = self.path / "state" / str(store)
            (folder / f"{batch + 1}.delta").write_bytes(lz4(records(changed)))
        if remove:
            del wanted[min(wanted)]
        self.after[batch] = {key: count + added for key, count in wanted.items()}
        watermark = planned(offsets.read_text())["batchWatermarkMs"]
        commit = f'v1\n{{"nextBatchWatermarkMs":{watermark}}}'
        (self.path / "commits" / str(batch)).write_text(commit)

    def _plan(self, batch: int) -> None:
        version, text, source = (self.path / "offsets" / str(batch - 1)).read_text().split("\n")
        plan = json.loads(text)
        commit = json.loads((self.path / "commits" / str(batch - 1)).read_text().split("\n")[1])
        plan["batchWatermarkMs"] = commit.get("nextBatchWatermarkMs", 0)
        plan["batchTimestampMs"] += 1
        read = json.loads(source)["logOffset"] + 1
        log = {"path": f"file:///in/{read}.json", "timestamp": read, "batchId": read}
        (self.path / "sources/0" / str(read)).write_text(f"v1\n{json.dumps(log)}")
        lines = (version, json.dumps(plan), json.dumps({"logOffset": read}))
        (self.path / "offsets" / str(batch)).write_text("\n".join(lines))

    def pinned(self) -> tuple[str, int]:
        """Return provider and partitions as the newest plan has them."""
        newest = max(int(file.name) for file in (self.path / "offsets").glob("[0-9]*"))
        conf = planned((self.path / "offsets" / str(newest)).read_text())["conf"]
        return conf[PROVIDER], int(conf[PARTITIONS_SETTING])

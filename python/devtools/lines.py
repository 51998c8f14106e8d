"""Writes docs/lines.md, which says what each Spark line supports, from `project/spark-lines.json`.

What Spark has only since some line lies in overlay folders that begin with that line, so the
folders say where the ticks of the table are: `python -m devtools.lines > ../docs/lines.md`, in the
folder `python`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devtools.errors import DevError

_SOURCES = Path("jvm", "spark", "src", "main")
# A folder for all lines up to one is of lines that have it not yet.
_FIRST = re.compile(r"scala-(?:since-)?(\d+\.\d+)(?:-to-\d+\.\d+)?")

_HEAD = """\
# Spark lines

This page is written by `python -m devtools.lines`, from `project/spark-lines.json` and the folders
that hold what differs between lines.

One jar for each line of Spark, and of Scala where a line has two. The Python package has them all
and takes the one that fits the installed pyspark.

"""

_FEATURES_HEAD = """
## What a line has

Holdfast does on a line what Spark's default provider does there, and keeps what that Spark has on
RocksDB alone: the state of `transformWithState`, and of real-time mode. What that Spark does not
have is not there, and no setting of it means anything.

"""

_TAIL = """
With checkpoint format 2, Spark 4.0 fails in a check of its own where an operator has one partition,
as an aggregation without a key and a limit have, and `spark.sql.shuffle.partitions` is more,
whatever the provider (`StateStoreWriter.getStateStoreCheckpointInfo`; Spark 4.1 does not). Nor does
its `statestore` source ask for state by the ids of that format, so no provider can give it any.

## Java

The class files of a jar are for the oldest Java that its Spark runs on, and call nothing that came
later: the compilers look at that (`-release`), and a test reads the class files of all jars.
`./dev` builds with Java 17 or newer, and `./dev test --java DIR` runs the tests on another one: the
workflows run those of Spark 3.5 on Java 8, 11 and 17, those of 4.0 and 4.1 on 17 and 21, and those
of newer lines on 17, 21 and 25, on which Spark before 4.2 does not start.

## From line to line

A query takes its checkpoint along to another line, as far as its Spark reads what the other wrote:
Holdfast reads and writes the files of Spark's default provider on each of them. `./dev test --full`
tries it with a query of each stateful operator (aggregations, windows, deduplication of all kinds,
sessions, a join by time, a join of windows, a limit, `applyInPandasWithState`), each on Holdfast
and on Spark's default provider side by side (`tests/python/lines`):

- up through all lines, with some batches at each: both write the same rows in every batch, and
  `holdfast verify` finds both checkpoints sound;
- down again, line by line, to the oldest: Spark refuses none of these queries, and both write the
  same rows there too;
- from the checkpoints that the default provider of each line wrote, on every line.

`transformWithState` has its state in files of Holdfast's own, which are the same on all lines: a
query with a value, a list, a map and timers goes up from 4.0 beside the same on Spark's RocksDB
provider, and down again as far as Spark lets that go.

All of this with settings as they are. What an older line has not, such as versions with ids and
rows with checksums, it cannot read: that way is not tried.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Something that not all lines have.

    Attributes:
        what: the row of the table.
        file: the file that makes it, below an overlay folder.
    """

    what: str
    file: str


_STORE = "io/holdfast/store"
_SEAM = "org/apache/spark/sql/execution/streaming/state/holdfast"
_FEATURES = (
    Feature(
        what="versions with ids: `stateStore.checkpointFormatVersion` 2",
        file="io/holdfast/checkpoint/CheckpointIds.scala",
    ),
    Feature(
        what="the `statestore` source: change feed, and state by an older snapshot",
        file=f"{_SEAM}/ChangeDataReaders.scala",
    ),
    Feature(what="`transformWithState`", file=f"{_STORE}/FamilyProvider.scala"),
    Feature(
        what="files with checksums beside them: `checkpoint.fileChecksum.enabled`",
        file=f"{_SEAM}/FileChecksums.scala",
    ),
    Feature(what="a metric of the newest snapshot", file=f"{_STORE}/InstanceMetrics.scala"),
    Feature(
        what="validation that all stores have committed",
        file=f"{_SEAM}/CommitReports.scala",
    ),
    Feature(
        what="snapshots that Spark's coordinator asks for",
        file="io/holdfast/snapshots/ForcedSnapshots.scala",
    ),
    Feature(
        what="rows with checksums: `stateStore.rowChecksum.enabled`",
        file="io/holdfast/rows/RowChecksums.scala",
    ),
    Feature(
        what="a query goes on past a snapshot that cannot be read: `stateStore.autoSnapshotRepair`",
        file="io/holdfast/versions/SnapshotChoice.scala",
    ),
    Feature(
        what="`transformWithState` in Python for many keys at once: `pipelined_state_calls`",
        file="org/apache/spark/sql/execution/python/streaming/holdfast/TransformInBulk.scala",
    ),
    Feature(what="real-time mode", file="io/holdfast/start/RealTimeQueries.scala"),
    Feature(what="maintenance in two calls", file=f"{_STORE}/MaintainedProvider.scala"),
)


def page(root: Path) -> str:
    """Return the text of the page.

    Args:
        root: the project's folder.

    Raises:
        DevError: the file of a feature is in no folder for the lines since some line.
    """
    entries = json.loads((root / "project" / "spark-lines.json").read_text())
    names = list(dict.fromkeys(entry["line"] for entry in entries))
    return (
        _HEAD
        + _table(
            ["Spark line", "from", "built and tested with", "Scala", "Java", "jar"],
            [_line(entry) for entry in entries],
        )
        + _FEATURES_HEAD
        + _table(
            ["", *names],
            [
                [feature.what, *("yes" if _has(name, since) else "" for name in names)]
                for feature in _FEATURES
                for since in [first_line(root, feature)]
            ],
        )
        + _TAIL
    )


def _line(entry: Mapping[str, str]) -> list[str]:
    scala = ".".join(entry["scala"].split(".")[:2])
    return [
        entry["line"],
        entry["oldest"],
        entry["spark"],
        scala,
        f"{entry['java']} and newer",
        f"`holdfast-spark_{entry['line']}_{scala}`",
    ]


def first_line(root: Path, feature: Feature) -> str:
    """Return the first line that has a feature.

    Raises:
        DevError: its file is in no folder for the lines since some line.
    """
    folders = (path for path in (root / _SOURCES).iterdir() if (path / feature.file).exists())
    firsts = [found[1] for path in folders if (found := _FIRST.fullmatch(path.name))]
    if not firsts:
        raise DevError(f"No folder {_SOURCES}/scala-since-... has {feature.file}.")
    return min(firsts, key=_number)


def _has(line: str, since: str) -> bool:
    return _number(line) >= _number(since)


def _number(line: str) -> list[int]:
    return [int(part) for part in line.split(".")]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    sys.stdout.write(page(Path(__file__).parents[2]))

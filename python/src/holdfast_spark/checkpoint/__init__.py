"""Checkpoints of streaming queries, read and changed without the command line.

What a command does is a function here, and what it prints with `--json` a dataclass:

    from holdfast_spark.checkpoint import Checkpoint, read_rows, verify_checkpoint

    checkpoint = Checkpoint.open("/data/checkpoints/clicks")
    assert verify_checkpoint(checkpoint).sound
    for rows in read_rows(checkpoint, keys=["user=7"]):  # pyarrow record batches
        print(rows.to_pylist())

| command | function | result |
|---|---|---|
| `holdfast inspect` | `inspect_checkpoint` | `Inspection` |
| `holdfast show` | `read_rows` | record batches of pyarrow |
| `holdfast diff` | `diff`, or `compare` for all rows | `Diff`, or many a `Difference` |
| `holdfast verify` | `verify_checkpoint` | `Verification` |
| `holdfast repair` | `repair` | `Repair` |
| `holdfast migrate` | `migrate` | `Migration` |
| `holdfast repartition` | `repartition` | `Repartition` |
| `holdfast savepoint` | `make_savepoint` | `Savepoint` |

`holdfast report` is `holdfast_spark.report`, `holdfast plan` is `holdfast_spark.capacity`. Nothing
here needs Spark or a JVM but `migrate` from and to RocksDB. Everything that fails on purpose is a
`HoldfastError`, and a `CheckpointError` where it is about a checkpoint; `holdfast_spark.errors` has
them all. A `Checkpoint` is for one thread, and shows what was there when it was opened: open it
again to see what a change did.
"""

from holdfast_spark.checkpoint.changes.migration import Migration, migrate
from holdfast_spark.checkpoint.changes.repair import Repair, repair
from holdfast_spark.checkpoint.changes.repair_plan import RepairStep
from holdfast_spark.checkpoint.changes.repartition import (
    Repartition,
    RepartitionedStore,
    repartition,
)
from holdfast_spark.checkpoint.changes.savepoint import Savepoint, make_savepoint
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.checks.verified import BrokenFile, Verification, VerifiedStore
from holdfast_spark.checkpoint.counted_difference import Diff, diff
from holdfast_spark.checkpoint.difference import Difference, Side, compare
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.ddl import schema_from_ddl
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.inspection import (
    Inspection,
    OperatorSummary,
    StoreSummary,
    inspect_checkpoint,
)
from holdfast_spark.checkpoint.row_reading import read_rows

__all__ = [
    "BrokenFile",
    "Checkpoint",
    "CheckpointError",
    "Diff",
    "Difference",
    "Inspection",
    "Location",
    "Migration",
    "OperatorSummary",
    "Repair",
    "RepairStep",
    "Repartition",
    "RepartitionedStore",
    "Savepoint",
    "Side",
    "StoreSummary",
    "Verification",
    "VerifiedStore",
    "compare",
    "diff",
    "inspect_checkpoint",
    "make_savepoint",
    "migrate",
    "read_rows",
    "repair",
    "repartition",
    "schema_from_ddl",
    "verify_checkpoint",
]

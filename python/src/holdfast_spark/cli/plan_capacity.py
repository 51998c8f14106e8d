"""The command `holdfast plan`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from holdfast_spark._arguments import MOST
from holdfast_spark._memory_limit import SHARE_OF_HEAP
from holdfast_spark._operator_names import (
    AGGREGATION,
    LIMIT,
    PLAIN_NAMES,
    WITHOUT_VALUE,
    spark_name,
)
from holdfast_spark.cli.checkpoint_command import (
    CheckpointCommand,
    Number,
    json_option,
    number_option,
    open_checkpoint,
    operator_option,
    print_json,
    progress_bar,
    storage_option,
)

if TYPE_CHECKING:
    from holdfast_spark.capacity import Workload
    from holdfast_spark.checkpoint import Checkpoint

_SIZE = re.compile(r"(\d+)([kmgt]?)i?b?", re.IGNORECASE)
_PARTITIONS = 200
# The parameters that describe an operator, which a checkpoint has already.
_DESCRIBING = (
    *("operator", "key", "value", "right_value"),
    *("lengths", "rows_per_key", "removals"),
)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


if TYPE_CHECKING:
    _Size = click.ParamType[int]
    _Operator = click.ParamType[str]
else:  # before click 8.4 no class of its own says of what it is
    _Size = _Operator = click.ParamType


class SizeType(_Size):
    """A size as Spark's settings have it, such as `8g`."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the size in bytes."""
        text = str(value).replace(" ", "")
        if text.isdecimal():
            self.fail(f"{value} has no unit: write it like {value}g or {value}m.", param, ctx)
        found = _SIZE.fullmatch(text)
        if not found:
            self.fail(f"{value} is no size: write it like 8g or 900m.", param, ctx)
        return int(found[1]) << _UNITS[found[2].lower()]


class OperatorType(_Operator):
    """A kind of stateful operator, by its plain name or by one of Spark's."""

    name = "operator"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the name that checkpoints have of it."""
        found = spark_name(str(value))
        if not found:
            known = ", ".join(f"{plain} ({spark})" for spark, plain in PLAIN_NAMES.items())
            self.fail(f"{value} is no stateful operator that is known: use {known}.", param, ctx)
        return found


@click.command(
    "plan",
    cls=CheckpointCommand,
    short_help="Memory, executors and files that a number of keys needs.",
    result="holdfast_spark.capacity:Plan",
)
@click.option(
    "--checkpoint", "path", metavar="PATH", help="Take rows and changes from this checkpoint."
)
@operator_option
@click.option(
    "--operator",
    metavar="NAME",
    type=OperatorType(),
    default=PLAIN_NAMES[AGGREGATION],
    show_default=True,
    help=f"Kind of operator, without a checkpoint: {', '.join(PLAIN_NAMES.values())}; or Spark's "
    f"name of it, such as {AGGREGATION}.",
)
@click.option(
    "--key",
    metavar="DDL",
    help="What it groups, deduplicates or joins by; empty for an aggregation of all rows.",
)
@click.option(
    "--value",
    metavar="DDL",
    help="What it keeps for a key: the results of an aggregation, the state of a group, the rows "
    f"of a join's left side, a state variable. Not for "
    f"{', '.join(PLAIN_NAMES[name] for name in WITHOUT_VALUE)}.",
)
@click.option(
    "--right-value", metavar="DDL", help="Rows of a join's right side; like --value by default."
)
@click.option(
    "--length",
    "lengths",
    metavar="FIELD=N",
    multiple=True,
    help="Average bytes of a string or binary, or elements of an array or map, as in name=20, "
    "tags=3, tags.element=8 or struct.field=12; repeatable.",
)
@number_option(
    "--keys",
    help="Keys in the state; with a checkpoint "
    "the rows of the first store, or of the largest state variable, as many as it has by default.",
)
@click.option(
    "--rows-per-key",
    metavar="N",
    type=Number(min=0, max=MOST),
    default=1.0,
    show_default=True,
    help="Rows that each side of a join keeps for a key, sessions of a key, or values that its "
    "state variables have.",
)
@number_option(
    "--changes",
    help="Rows that a batch puts; with a checkpoint those that its newest ten batches put on "
    "average, grown as --keys says, by default.",
)
@number_option(
    "--removals",
    help="Rows that a batch removes, as by a watermark; none by default. A checkpoint tells them.",
)
@number_option(
    "--partitions",
    least=1,
    help="Shuffle partitions; those of the checkpoint, or 200, by default.",
)
@number_option(
    "--versions",
    least=1,
    default=2,
    show_default=True,
    help="Versions in memory (spark.sql.streaming.maxBatchesToRetainInMemory).",
)
@number_option(
    "--batches-to-retain",
    least=1,
    default=100,
    show_default=True,
    help="Batches in the checkpoint (spark.sql.streaming.minBatchesToRetain).",
)
@click.option(
    "--compression",
    metavar="RATIO",
    type=Number(min=0, max=MOST, min_open=True),
    help="Size of state files beside what is in them; by default measured in the checkpoint, or 1.",
)
@click.option("--heap", metavar="SIZE", type=SizeType(), help="Heap of an executor, such as 8g.")
@click.option(
    "--state-share",
    metavar="SHARE",
    type=Number(min=0, max=1, min_open=True),
    default=SHARE_OF_HEAP,
    show_default=True,
    help="Share of the heap that state may take.",
)
@storage_option
@json_option
def plan(  # noqa: PLR0913, PLR0917 - one for each option
    path: str | None,
    operator_id: int,
    operator: str,
    key: str | None,
    value: str | None,
    right_value: str | None,
    lengths: tuple[str, ...],
    keys: int | None,
    rows_per_key: float,
    changes: int | None,
    removals: int | None,
    partitions: int | None,
    versions: int,
    batches_to_retain: int,
    compression: float | None,
    heap: int | None,
    state_share: float,
    storage_options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Calculate what the state of an operator takes: memory, executors and checkpoint.

    Of an operator that is there already, from its checkpoint, as it is or grown to --keys. Of one
    that is planned, from its schema, as in holdfast plan --key "user bigint" --value "clicks
    bigint, last timestamp" --keys 50000000 --changes 200000 --partitions 400 --heap 16g.

    Rows are sized as Spark lays them out, and memory is that of Holdfast, of Spark's default
    provider and of RocksDB. For the first two it is within 10 % of what is measured when the
    assumptions hold that are printed; of RocksDB it is an estimate.
    """
    from holdfast_spark.capacity import Description, Surroundings, make_plan, workload_of
    from holdfast_spark.cli.plan_text import print_plan

    if path is not None:
        _require_none_given("--checkpoint has all that these say, leave out", *_DESCRIBING)
        workload = _observed(open_checkpoint(path, storage_options), operator_id, keys, changes)
    else:
        _require_none_given("only a --checkpoint has numbered operators, leave out", "operator_id")
        if operator == LIMIT:
            key = key or ""
        if operator == LIMIT or key == "":  # one row for the whole query
            keys, changes = keys or 1, changes or 1
        needed = {"--key": key, "--value": value, "--keys": keys, "--changes": changes}
        if operator in WITHOUT_VALUE:
            del needed["--value"]
        missing = [name for name, given in needed.items() if given is None]
        if missing or key is None or keys is None or changes is None:
            besides = "--checkpoint PATH, or " if len(missing) == len(needed) else ""
            raise click.UsageError(f"plan needs {besides}{_listed(missing)}")
        workload = workload_of(
            Description(
                operator=operator,
                key=key,
                value=value or "",
                right_value=right_value or "",
                keys=keys,
                changes=changes,
                removals=removals or 0,
                rows_per_key=rows_per_key,
                lengths=_as_lengths(lengths),
            )
        )
    surroundings = Surroundings(
        partitions=partitions or workload.partitions or _PARTITIONS,
        versions=versions,
        batches_to_retain=batches_to_retain,
        heap_bytes=heap,
        state_share=state_share,
        compression=compression or workload.compression or 1.0,
    )
    made = make_plan(workload, surroundings)
    if as_json:
        print_json(made)
    else:
        print_plan(made)


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _require_none_given(sentence: str, *names: str) -> None:
    """Check that parameters of the command have not been given.

    Raises:
        click.UsageError: some have.
    """
    context = click.get_current_context()
    options = {option.name: option.opts[0] for option in context.command.params}
    default = click.core.ParameterSource.DEFAULT
    given = [options[n] for n in names if context.get_parameter_source(n) is not default]
    if given:
        raise click.UsageError(f"{sentence}: {', '.join(given)}")


def _observed(
    checkpoint: Checkpoint, operator_id: int, keys: int | None, changes: int | None
) -> Workload:
    """Read an operator from its checkpoint and grow it to what is asked for."""
    from holdfast_spark.capacity import grown, observe

    with progress_bar("reading") as on_file:
        workload = observe(checkpoint, operator_id, on_file=on_file)
    return grown(workload, keys=keys, changes=changes)


def _as_lengths(lengths: Sequence[str]) -> dict[str, int]:
    for length in lengths:
        name, _, number = length.rpartition("=")
        if not name or not number.isdecimal():
            raise click.UsageError(f"--length takes FIELD=N, and {length} is not that")
    return {name: int(number) for name, _, number in (text.rpartition("=") for text in lengths)}

"""What the commands about checkpoints have in common."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import json
import math
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast_spark._settled import SETTLED

if TYPE_CHECKING:
    from holdfast_spark.checkpoint import Checkpoint
    from holdfast_spark.checkpoint.files.location import Location

Command = TypeVar("Command", bound=Callable[..., Any])

# Columns of a report that goes to a file or a pipe.
WIDTH = 120

# By which a user says that the query reads a source in several places.
SHARED_SOURCES = "--shared-sources"

# What there is to say of a command that plans the next batch whenever it changes something.
HAS_TO_BE_STOPPED = """\
The query has to be stopped. The change plans a batch without data, which the query runs next; a run
of it that goes on nevertheless fails at its next batch. While a batch is planned and not committed,
a run may be in the middle of it, and the command refuses: let a run with the trigger availableNow
come to its end first, or give --stopped if you know that none is left. Without --apply it says what
it would do, and why it would be refused now; it ends with exit code 0 then as well, and --json has
the reasons as in_the_way.
"""


class CheckpointCommand(click.Command):
    """A command about checkpoints.

    Args:
        result: module and name of the dataclass that `--json` prints, such as `a.b:C`; None for a
            command whose help says what it prints.
        more_help: a paragraph that follows the command's own help.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's
        result: str | None = None,
        more_help: str = "",
        **more: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, **more)
        self.result = result
        if more_help:
            self.help = f"{inspect.cleandoc(self.help or '')}\n\n{more_help}"


_LARGEST_LONG = (1 << 63) - 1
# Some 30 years.
_MOST_SECONDS = 1_000_000_000


class WholeNumber(click.IntRange):
    """A range of whole numbers, which errors call so."""

    name = "whole number"


class Number(click.FloatRange):
    """A range of numbers, which errors call so."""

    name = "number"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Refuse what compares with no number, as click does not."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        return number


def require_outside(checkpoint: Checkpoint, output: Location | None) -> None:
    """Refuse to write what a command tells of a checkpoint into that."""
    if output and output.is_in(checkpoint.location):
        raise click.UsageError(
            f"--output {output} is in the checkpoint {checkpoint.location}: name a file elsewhere"
        )


def storage_option(command: Command) -> Command:
    """Add the option that says what fsspec gives to the file system."""
    return click.option(
        "--storage-option",
        "storage_options",
        metavar="NAME=VALUE",
        multiple=True,
        help="Give an option to the file system of a URL, such as endpoint_url=...; repeatable.",
    )(command)


def store_options(command: Command) -> Command:
    """Add the options that choose a store, named as those of Spark's `statestore` source."""
    store_name = click.option(
        "--store-name",
        metavar="NAME",
        default="default",
        show_default=True,
        help="Name of the store in its operator.",
    )
    return operator_option(store_name(command))


def family_options(command: Command) -> Command:
    """Add the options that choose a state variable or a column family."""
    family = click.option(
        "--column-family",
        metavar="NAME",
        help="The rows of a column family as they are, also of those that Spark keeps for itself.",
    )
    timers = click.option(
        "--read-registered-timers",
        is_flag=True,
        help="The timers that transformWithState has registered.",
    )
    variable = click.option(
        "--state-var-name", metavar="NAME", help="A state variable of transformWithState."
    )
    return variable(timers(family(command)))


def number_option(*names: str, least: int = 0, **more: Any) -> Callable[[Command], Command]:  # noqa: ANN401
    """Return an option that is a whole number.

    Args:
        names: names of the option, and of the parameter where it has another.
        least: the least number.
        more: what click has besides, such as its default.
    """
    return click.option(*names, metavar="N", type=WholeNumber(min=least, max=_LARGEST_LONG), **more)


operator_option = number_option(
    "--operator-id", default=0, show_default=True, help="Number of the stateful operator."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOptions:
    """What all commands can be told which change the checkpoint of a stopped query.

    Attributes:
        apply: do it; without, only say what would be done.
        stopped: the query is known to run nowhere.
        settled: refuse when the query has written anything within this time.
        storage_options: options of the file system, `NAME=VALUE` each.
        as_json: print JSON.
    """

    apply: bool
    stopped: bool
    settled: timedelta
    storage_options: tuple[str, ...]
    as_json: bool


def change_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that all commands have which change the checkpoint of a stopped query.

    The command gets them as one `ChangeOptions`, with the name `options`.
    """

    @functools.wraps(command)
    def gathered(
        *,
        apply: bool,
        stopped: bool,
        settled: float,
        storage_options: tuple[str, ...],
        as_json: bool,
        **more: Any,  # noqa: ANN401 - the command's own
    ) -> None:
        options = ChangeOptions(
            apply=apply,
            stopped=stopped,
            settled=timedelta(seconds=settled),
            storage_options=storage_options,
            as_json=as_json,
        )
        command(**more, options=options)

    each = (
        click.option(
            "--apply", is_flag=True, help="Do it. Without this, only say what would be done."
        ),
        click.option(
            "--stopped",
            is_flag=True,
            help="The query runs nowhere, I am sure: change it although a batch is planned and not "
            "committed, which then runs again under its number.",
        ),
        click.option(
            "--settled",
            metavar="SECONDS",
            type=Number(min=0, max=_MOST_SECONDS),
            default=round(SETTLED.total_seconds()),
            show_default=True,
            help="Refuse when the query has written anything in the last SECONDS.",
        ),
        storage_option,
        json_option,
    )
    for option in reversed(each):
        gathered = option(gathered)
    return gathered


def print_change(done: Any, text: str, options: ChangeOptions) -> None:  # noqa: ANN401
    """Print what a change has done or would do, and why it would be refused.

    Args:
        done: what the change returned, with the sentences `in_the_way`.
        text: the same in words.
        options: what the command was told.
    """
    if options.as_json:
        print_json(done)
        return
    click.echo(text)
    for sentence in done.in_the_way:
        click.echo(f"With --apply it would be refused now: {sentence}")


def open_checkpoint(path: str, storage_options: Sequence[str]) -> Checkpoint:
    """Open the checkpoint that a command is about.

    Raises:
        click.UsageError: an option is no `NAME=VALUE`.
        CheckpointError: there is none, or it cannot be read.
    """
    from holdfast_spark.checkpoint import Checkpoint

    return Checkpoint.open(path, storage_options=_as_options(storage_options))


def open_to_change(path: str, storage_options: Sequence[str]) -> Checkpoint:
    """Open the checkpoint that a command changes or copies, and warn where it has no state.

    Raises:
        click.UsageError: an option is no `NAME=VALUE`.
        CheckpointError: there is none, or it cannot be read.
    """
    from holdfast_spark.checkpoint.expected_stores import without_state
    from holdfast_spark.errors import HoldfastError

    checkpoint = open_checkpoint(path, storage_options)
    with contextlib.suppress(HoldfastError):  # which the command itself tells of
        if sentence := without_state(checkpoint):
            click.echo(f"warning: {sentence}", err=True)
    return checkpoint


def warn_of(lost: Sequence[str]) -> None:
    """Print what sources have lost, which the command itself does not need."""
    for sentence in lost:
        click.echo(f"warning: {sentence}", err=True)


def open_location(path: str, storage_options: Sequence[str]) -> Location:
    """Return a place that a command writes to.

    Raises:
        click.UsageError: an option is no `NAME=VALUE`.
        UnreadablePathError: its file system is unknown or refuses.
    """
    from holdfast_spark.checkpoint.files.location import Location

    return Location.of(path, storage_options=_as_options(storage_options))


def _as_options(storage_options: Sequence[str]) -> dict[str, str]:
    for option in storage_options:
        if "=" not in option:
            raise click.UsageError(f"--storage-option takes NAME=VALUE, and {option} has no =")
    return dict(option.split("=", 1) for option in storage_options)


def print_json(result: Any) -> None:  # noqa: ANN401 - any dataclass
    """Print a dataclass as one JSON object."""
    click.echo(json.dumps(dataclasses.asdict(result)))


@contextlib.contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error while it is a terminal; gives what moves it."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:  # where some versions of rich leave an empty line
        yield lambda _done, _total: None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)

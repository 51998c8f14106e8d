"""What the demo shows while it runs: in place on a terminal, line by line elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from holdfast_spark._text import size_text
from holdfast_spark.metrics import OperatorMetrics, ProgressMetrics

BAR_WIDTH = 40
MS_PER_SECOND = 1000


class Display(Protocol):
    """Where the run tells what it does. A context manager, for one thread."""

    def __enter__(self) -> Display: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def begin(self, step: str) -> None:
        """A step of the run begins."""

    def end(self, outcome: str) -> None:
        """The step has ended like this."""

    def batch(self, progress: ProgressMetrics, *, rows: int, of_rows: int) -> None:
        """A micro-batch has committed; `rows` of `of_rows` input rows are done by now."""


def open_display(console: Console, *, plain: bool) -> Display:
    """Return the display that suits where the console writes to.

    Args:
        console: where to write.
        plain: write lines on a terminal, too.
    """
    return LiveDisplay(console) if console.is_terminal and not plain else PlainDisplay(console)


class PlainDisplay:
    """One line for the end of each step and for each micro-batch, never rewritten."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = time.monotonic()

    def __enter__(self) -> PlainDisplay:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def begin(self, step: str) -> None:
        """Write that a step begins."""
        self._line(f"{step} ...")

    def end(self, outcome: str) -> None:
        """Write how the step ended."""
        self._line(outcome)

    def batch(self, progress: ProgressMetrics, *, rows: int, of_rows: int) -> None:
        """Write the batch's numbers."""
        operators = progress.operators
        self._line(
            f"batch {progress.batch_id}: {rows:,} of {of_rows:,} rows, "
            f"{sum(operator.num_rows_total for operator in operators):,} state rows in "
            f"{size_text(sum(operator.memory_used_bytes for operator in operators))}, "
            f"commit {milliseconds_text(sum(operator.commit_time_ms for operator in operators))}, "
            f"batch {milliseconds_text(progress.batch_duration_ms)}"
        )

    def _line(self, text: str) -> None:
        seconds = time.monotonic() - self._started
        self._console.print(
            f"{seconds:6.1f} s  {text}", highlight=False, markup=False, soft_wrap=True
        )


class LiveDisplay:
    """Steps that are done stay; below them, in place, the step that runs and the newest batch."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._step = Spinner("dots")
        self._running = False
        self._batch: RenderableType | None = None
        self._live = Live(console=console, get_renderable=self._render, transient=True)

    def __enter__(self) -> LiveDisplay:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running = False
        self._live.stop()

    def begin(self, step: str) -> None:
        """Show the step with a spinner."""
        self._step = Spinner("dots", text=Text(step))
        self._running = True
        self._live.refresh()

    def end(self, outcome: str) -> None:
        """Leave the outcome on the screen."""
        self._running = False
        self._batch = None
        self._console.print(Text.assemble(("✓ ", "green"), outcome))

    def batch(self, progress: ProgressMetrics, *, rows: int, of_rows: int) -> None:
        """Show the batch's numbers in place of the last one's."""
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=of_rows, completed=rows, width=BAR_WIDTH),
            f"{rows:,} of {of_rows:,} rows, batch {progress.batch_id} in "
            f"{milliseconds_text(progress.batch_duration_ms)}",
        )
        self._batch = Padding(Group(bar, operator_table(progress.operators)), (0, 0, 0, 2))
        self._live.refresh()

    def _render(self) -> RenderableType:
        if not self._running:
            return Text("")
        return Group(self._step, self._batch) if self._batch else self._step


def operator_table(operators: tuple[OperatorMetrics, ...]) -> Table:
    """Return the state of each stateful operator, first to last as rows flow through them."""
    table = Table(box=None, header_style="dim")
    table.add_column("stateful operator")
    for column in ("state rows", "updated", "removed", "memory", "commit"):
        table.add_column(column, justify="right")
    for operator in reversed(operators):
        table.add_row(
            operator.operator_name,
            f"{operator.num_rows_total:,}",
            f"{operator.num_rows_updated:,}",
            f"{operator.num_rows_removed:,}",
            size_text(operator.memory_used_bytes),
            milliseconds_text(operator.commit_time_ms),
        )
    return table


def milliseconds_text(count: int) -> str:
    """Return a duration of `count` milliseconds, in seconds from one second on."""
    return f"{count} ms" if count < MS_PER_SECOND else f"{count / MS_PER_SECOND:.1f} s"

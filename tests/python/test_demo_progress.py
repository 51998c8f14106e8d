"""What the demo shows while it runs."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from holdfast_spark.demo.progress import Display, LiveDisplay, PlainDisplay, open_display
from holdfast_spark.metrics import OperatorMetrics, ProgressMetrics


def operator(name: str, rows: int) -> OperatorMetrics:
    return OperatorMetrics(
        operator_name=name,
        num_rows_total=rows,
        num_rows_updated=1,
        num_rows_removed=2,
        num_rows_dropped_by_watermark=0,
        all_updates_time_ms=3,
        all_removals_time_ms=4,
        commit_time_ms=15,
        memory_used_bytes=1 << 20,
        num_shuffle_partitions=4,
        num_state_store_instances=4,
        custom_metrics={},
    )


# Spark lists the operators from the query's result back to its source.
PROGRESS = ProgressMetrics(
    id="a",
    run_id="b",
    name=None,
    timestamp="2013-01-01T00:00:00.000Z",
    batch_id=4,
    batch_duration_ms=1500,
    num_input_rows=1000,
    input_rows_per_second=1.0,
    processed_rows_per_second=1.0,
    duration_ms={},
    operators=(operator("stateStoreSave", 700), operator("dedupe", 55000)),
)


def shown(*, terminal: bool, plain: bool) -> tuple[Display, str]:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=100, color_system=None)
    with open_display(console, plain=plain) as display:
        display.begin("Streaming [until killed]")
        display.batch(PROGRESS, rows=5000, of_rows=12000)
        display.end("Killed in batch 5")
    return display, out.getvalue()


@pytest.mark.parametrize(("terminal", "plain"), [(False, False), (False, True), (True, True)])
def test_lines_are_written_when_there_is_no_terminal_or_on_demand(
    *, terminal: bool, plain: bool
) -> None:
    display, text = shown(terminal=terminal, plain=plain)
    assert isinstance(display, PlainDisplay)
    lines = text.splitlines()
    assert lines[0].endswith(" s  Streaming [until killed] ...")
    assert lines[1].endswith(
        " s  batch 4: 5,000 of 12,000 rows, 55,700 state rows in 2.0 MiB, commit 30 ms, batch 1.5 s"
    )
    assert lines[2].endswith(" s  Killed in batch 5")
    assert "\x1b" not in text


def test_a_terminal_shows_the_batch_in_place() -> None:
    display, text = shown(terminal=True, plain=False)
    assert isinstance(display, LiveDisplay)
    assert "Streaming [until killed]" in text
    assert "5,000 of 12,000 rows, batch 4 in 1.5 s" in text
    assert text.index("dedupe") < text.index("stateStoreSave")
    erased = "\x1b[2K"
    assert erased in text
    assert text.rindex(erased) > text.rindex("dedupe")
    assert "✓ Killed in batch 5" in text


def test_an_error_leaves_the_terminal_as_it_was() -> None:
    out = io.StringIO()
    display = open_display(Console(file=out, force_terminal=True), plain=False)
    display.begin("Streaming")
    with pytest.raises(RuntimeError), display:
        raise RuntimeError
    hidden, visible = "\x1b[?25l", "\x1b[?25h"
    assert out.getvalue().rindex(visible) > out.getvalue().rindex(hidden)

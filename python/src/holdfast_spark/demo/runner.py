"""The run of the demo: a query streams, is killed, is resumed, and its result checked in batch."""

from __future__ import annotations

import dataclasses
import json
import os
import time

from holdfast_spark._jars import installed_spark_line, jar_path
from holdfast_spark._java import check_java
from holdfast_spark._text import counted
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.inspection import inspect_checkpoint
from holdfast_spark.demo.driver import Driver
from holdfast_spark.demo.errors import DemoError
from holdfast_spark.demo.flights import data_folder, write_flights
from holdfast_spark.demo.kill_point import KillPoint, find_kill_point, has_begun_to_write
from holdfast_spark.demo.own_files import OwnFiles
from holdfast_spark.demo.plan import Layout, Plan
from holdfast_spark.demo.progress import Display
from holdfast_spark.demo.result import Check, DemoResult
from holdfast_spark.metrics import ProgressMetrics

# How long to wait for news of the query before looking at its state files again.
WATCH_SECONDS = 0.005


def check_environment(own: OwnFiles | None) -> None:
    """Make sure that what the demo needs is installed, before anything is written.

    Raises:
        HoldfastError: there is no pyspark, no jar for it, no Java for it, or no flights and no
            files of the user's own.
        DemoError: this system has no groups of processes, as Windows.
    """
    if not hasattr(os, "killpg"):
        raise DemoError(
            "the demo kills Spark with all of its processes, which takes Linux or macOS: run it "
            "there, or in WSL"
        )
    jar_path(installed_spark_line())
    check_java()
    if own is None:
        data_folder()


def run_demo(
    layout: Layout, display: Display, *, own: OwnFiles | None, rows: int | None, batches: int
) -> DemoResult:
    """Run the whole demo below an empty work folder.

    Args:
        layout: the work folder.
        display: where to show what happens.
        own: the user's files; the flights for None.
        rows: how many flights to take, in order of time; all for None.
        batches: into how many micro-batches to cut the input.

    Raises:
        DemoError: a step failed; a wrong result is no error but `DemoResult.failures`.
    """
    started = time.monotonic()
    run = Run(prepare_input(layout, display, own=own, rows=rows, batches=batches), layout, display)
    killed = run.stream_until_killed()
    resumed_at = run.resume()
    checks = run.check()
    last = max(batch for batch, progress in run.progress.items() if progress.num_input_rows)
    inspection = inspect_checkpoint(Checkpoint.open(str(layout.checkpoint)))
    return DemoResult(
        source=run.plan.source,
        rows=run.plan.rows,
        written_events=run.plan.events,
        batches=max(run.progress) + 1,
        last_batch=last,
        killed=killed,
        resumed_at=resumed_at,
        provider=inspection.provider_class,
        dropped_by_watermark=run.dropped_by_watermark,
        operators=run.progress[last].operators,
        files=inspection.operators,
        check=checks["statistics"],
        sessions=checks.get("sessions"),
        seconds=round(time.monotonic() - started, 1),
        work=str(layout.work),
    )


def prepare_input(
    layout: Layout, display: Display, *, own: OwnFiles | None, rows: int | None, batches: int
) -> Plan:
    """Write the files that the query will read, and the plan."""
    if own is None:
        display.begin("Writing the flights of 2013 as files")
        write_flights(layout, limit=rows, files=batches).write(layout.plan)
    else:
        display.begin(f"Reading {own.folder} and writing it in order of time")
        asked = json.dumps(dataclasses.asdict(own))
        with Driver("prepare", layout, (asked, str(batches))) as driver:
            driver.run()
    plan = Plan.read(layout.plan)
    display.end(f"Input: {plan.summary}, in {counted(plan.files, 'file')}")
    return plan


class Run:
    """The steps of a run that is prepared, to be called in their order by one thread.

    Attributes:
        progress: the newest report about each micro-batch, by its number.
    """

    def __init__(self, plan: Plan, layout: Layout, display: Display) -> None:
        self.plan = plan
        self.progress: dict[int, ProgressMetrics] = {}
        self._layout = layout
        self._display = display

    @property
    def dropped_by_watermark(self) -> int:
        """Rows that the stateful operators left out as too late."""
        return sum(
            operator.num_rows_dropped_by_watermark
            for progress in self.progress.values()
            for operator in progress.operators
        )

    def stream_until_killed(self) -> KillPoint:
        """Start the query and kill its driver while it writes the state of the middle batch.

        The files of the batch are what tells: as soon as one of its state stores has written its
        new version, and before all of them have if the query is not very quick, the driver dies.
        """
        self._display.begin("Streaming, until the driver is killed")
        with Driver("stream", self._layout) as driver:
            for progress in driver.progress(tick_seconds=WATCH_SECONDS):
                self._note(progress)
                if self._is_amid(self.plan.kill_batch):
                    driver.kill()
                    break
        killed = find_kill_point(self._layout.checkpoint)
        if killed is None or driver.done:
            raise DemoError(
                f"the query was through with its {counted(self.plan.files, 'batch', 'batches')} "
                "before it could be killed: give it more input, or more batches with --batches"
            )
        self._display.end(kill_text(killed))
        return killed

    def resume(self) -> int:
        """Start the query again from its checkpoint, in a new driver, and wait for its end.

        Returns:
            The first batch of the new driver.
        """
        self._display.begin("Resuming from the checkpoint, in a new driver")
        first: int | None = None
        with Driver("resume", self._layout) as driver:
            for progress in driver.progress():
                self._note(progress)
                if first is None and progress is not None:
                    first = progress.batch_id
        if first is None:
            raise DemoError("the second driver found nothing left to do in the checkpoint")
        self._display.end(f"Resumed at batch {first}, ended with batch {max(self.progress)}")
        return first

    def check(self) -> dict[str, Check]:
        """Compute the results in batch, in a third driver, and compare; by the query's name."""
        self._display.begin("Computing the same in batch and comparing")
        with Driver("check", self._layout) as driver:
            outcome = driver.run()
        checks = {name: Check.from_json(fields) for name, fields in outcome.items()}
        groups = sum(check.groups for check in checks.values())
        different = sum(check.different for check in checks.values())
        verdict = f"{different:,} differ" if different else "all the same"
        self._display.end(f"Compared {groups:,} groups with batch: {verdict}")
        return checks

    def _note(self, progress: ProgressMetrics | None) -> None:
        if progress is not None:
            self.progress[progress.batch_id] = progress
            rows = sum(batch.num_input_rows for batch in self.progress.values())
            self._display.batch(progress, rows=rows, of_rows=self.plan.rows)

    def _is_amid(self, batch: int) -> bool:
        """Return whether `batch` writes its state, and those before it are reported."""
        reported = batch == 0 or batch - 1 in self.progress
        return reported and has_begun_to_write(self._layout.checkpoint, batch)


def kill_text(killed: KillPoint) -> str:
    """Return in words where a query stood when it was killed."""
    if killed.committed:
        return f"Killed (SIGKILL) when batch {killed.batch} had just committed"
    return (
        f"Killed (SIGKILL) in batch {killed.batch}: {killed.stores_written} of "
        f"{killed.state_stores} state stores had written its state"
    )

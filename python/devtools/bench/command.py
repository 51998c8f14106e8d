"""The command `./dev bench`; run as a module, in `python`, it writes the tables anew."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from devtools import processes
from devtools.bench import evictions, families, results, summary
from devtools.bench.results import Machine, Result
from devtools.bench.run import Run
from devtools.bench.runs import full_runs, short_runs
from devtools.environments import SparkLine
from devtools.errors import DevError
from devtools.workshop import Workshop

_MARK = "measured "
_LINES_SHOWN = 30


def bench(
    workshop: Workshop, *, line: SparkLine, full: bool, measures: list[str], out: Path
) -> int:
    """Run the benchmark and write its results, after every measurement.

    What the results hold already of the same code and machine is not measured again: a benchmark
    that was interrupted goes on where it stopped. Delete the results to measure anew. Results of
    measurements that are not asked for stay as they are, with the commit and the machine that they
    are of. One that fails keeps no other from being measured.

    Args:
        workshop: where the work is done.
        line: the Spark line to measure on.
        full: whether to measure everything, which takes hours.
        measures: names of the measurements, or groups of them, to run; all if there are none.
        out: the folder of the results.

    Raises:
        DevError: there is no such measurement, or some failed.
    """
    runs = full_runs() if full else short_runs()
    known = dict.fromkeys(run.name for run in runs)
    for name in measures:
        if name not in known:
            raise DevError(f"There is no measurement {name}: there are {', '.join(known)}.")
    workshop.sbt("benchmarks", f"-Dbench.line={line.line}", "bench/javaArguments")
    arguments = workshop.root / "jvm" / "bench" / "target" / "java-arguments"
    java = workshop.java.home / "bin" / "java"
    machine = Machine.here(java=java, spark=line.pyspark)
    commit = results.measured_commit(workshop.root)
    name = "full" if full else "short"
    asked = measures or list(known)
    found = {
        str(result.run): result
        for result in results.read(out / f"{name}.json")
        if result.run.name not in asked or result.is_of(commit, machine)
    }
    chosen = [run for run in runs if str(run) not in found and run.name in asked]
    failed = []
    for index, run in enumerate(chosen):
        where = f"[{index + 1}/{len(chosen)}]"
        print(f"{where} {' '.join(run.words)} ... ", end="", flush=True, file=sys.stderr)
        started = time.monotonic()
        try:
            numbers = measured(java, arguments, run)
        except DevError as e:
            failed.append(str(e))
            continue
        found[str(run)] = Result(run, numbers, commit, machine, results.today())
        print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
        in_order = [found[str(each)] for each in runs if str(each) in found]
        results.write(out, name, in_order)
        _write_tables(out, name, in_order)
    if not found:
        raise DevError("\n".join(failed))
    _plot(workshop, out, name)
    if full and out.resolve() == (workshop.root / "docs" / "benchmarks").resolve():
        update_readme(workshop.root)
    print((out / f"{name}.txt").read_text())
    if failed:
        raise DevError("\n".join(failed))
    return 0


def update_pages(root: Path) -> None:
    """Write the tables of the full benchmark of the repository anew, from its numbers."""
    out = root / "docs" / "benchmarks"
    _write_tables(out, "full", results.read(out / "full.json"))
    update_readme(root)


def _write_tables(out: Path, name: str, found: list[Result]) -> None:
    (out / f"{name}.md").write_text(summary.markdown(found))
    for group, table in (
        ("evictions", evictions.markdown(found)),
        ("families", families.markdown(found)),
    ):
        if table:
            (out / f"{name}-{group}.md").write_text(table)


def update_readme(root: Path) -> None:
    """Put what the full benchmark of the repository has found into the table of its README."""
    readme = root / "README.md"
    found = results.read(root / "docs" / "benchmarks" / "full.json")
    table = summary.markdown(found, for_readme=True)
    readme.write_text(summary.with_table(readme.read_text(), table))


def measured(java: Path, arguments: Path, run: Run) -> dict[str, float]:
    """Measure once, or as often as the run says; return its numbers or the medians of all.

    Args:
        java: the program.
        arguments: the file of the arguments that every measurement has.
        run: what to measure.

    Raises:
        DevError: it failed. What it printed last is on standard error.
    """
    found = [_measured_once(java, arguments, run) for _ in range(run.repeats)]
    return {name: statistics.median(each[name] for each in found) for name in found[0]}


def _measured_once(java: Path, arguments: Path, run: Run) -> dict[str, float]:
    program = ["io.holdfast.bench.Measure", *run.words]
    command = [str(java), f"@{arguments}", *run.java_options, *program]
    process = processes.start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = process.communicate()[0].splitlines()
    processes.wait(process)
    numbers = [line.removeprefix(_MARK) for line in lines if line.startswith(_MARK)]
    if process.returncode != 0 or len(numbers) != 1:
        print("\n".join(lines[-_LINES_SHOWN:]), file=sys.stderr)
        raise DevError(f"The measurement {' '.join(run.words)} failed.")
    found: dict[str, float] = json.loads(numbers[0])
    return found


def _plot(workshop: Workshop, out: Path, name: str) -> None:
    """Draw the plots with the environment that has the library for it."""
    python = workshop.tools().program("python")
    subprocess.run(
        [python, "-m", "devtools.bench.plots", out.resolve(), name],
        check=True,
        cwd=workshop.package,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    update_pages(Path.cwd().parent)

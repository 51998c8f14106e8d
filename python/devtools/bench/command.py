"""The command `./dev bench`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from devtools.bench import results
from devtools.bench.results import Machine, Result
from devtools.bench.runs import Run, full_runs, short_runs
from devtools.errors import DevError
from devtools.workshop import Workshop

_MARK = "measured "
_LINES_SHOWN = 30


def bench(workshop: Workshop, *, full: bool, measures: list[str], out: Path) -> int:
    """Run the benchmark and write its results, after every measurement.

    What the results hold already of the same code and machine is not measured again: a benchmark
    that was interrupted goes on where it stopped. Delete the results to measure anew.

    Args:
        workshop: where the work is done.
        full: whether to measure everything, which takes hours.
        measures: names of the measurements to run; all if there are none.
        out: the folder of the results.

    Raises:
        DevError: there is no such measurement, or one failed.
    """
    runs = full_runs() if full else short_runs()
    known = dict.fromkeys(run.measure for run in runs)
    for name in measures:
        if name not in known:
            raise DevError(f"There is no measurement {name}: there are {', '.join(known)}.")
    line = workshop.lines[0]
    workshop.sbt("benchmarks", "bench/javaArguments")
    arguments = workshop.root / "jvm" / "bench" / "target" / "java-arguments"
    java = workshop.java.home / "bin" / "java"
    machine = Machine.here(root=workshop.root, java=java, spark=line.pyspark)
    name = "full" if full else "short"
    found = {str(result.run): result for result in results.read_of(out / f"{name}.json", machine)}
    chosen = [
        run for run in runs if str(run) not in found and (not measures or run.measure in measures)
    ]
    for index, run in enumerate(chosen):
        found[str(run)] = _measured(java, arguments, run, index, len(chosen))
        in_order = [found[str(each)] for each in runs if str(each) in found]
        results.write(out, name, machine, in_order)
    _plot(workshop, out, name)
    print((out / f"{name}.txt").read_text())
    return 0


def _measured(java: Path, arguments: Path, run: Run, index: int, count: int) -> Result:
    print(f"[{index + 1}/{count}] {' '.join(run.words)} ... ", end="", flush=True, file=sys.stderr)
    started = time.monotonic()
    program = ["io.holdfast.bench.Measure", *run.words]
    command = [str(java), f"@{arguments}", *run.java_options, *program]
    done = subprocess.run(
        command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = done.stdout.splitlines()
    numbers = [line.removeprefix(_MARK) for line in lines if line.startswith(_MARK)]
    if done.returncode != 0 or len(numbers) != 1:
        print("\n".join(lines[-_LINES_SHOWN:]), file=sys.stderr)
        raise DevError(f"The measurement {' '.join(run.words)} failed.")
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return Result(run, json.loads(numbers[0]))


def _plot(workshop: Workshop, out: Path, name: str) -> None:
    """Draw the plots with the environment that has the library for it."""
    program = (
        "import sys; from pathlib import Path; from devtools.bench import plots, results; "
        "folder, name = Path(sys.argv[1]), sys.argv[2]; "
        "plots.draw(folder, name, results.read(folder / f'{name}.json'))"
    )
    python = workshop.tools().program("python")
    subprocess.run(
        [python, "-c", program, out, name],
        check=True,
        cwd=workshop.package,
        stdin=subprocess.DEVNULL,
    )

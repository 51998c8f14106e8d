"""Results of a benchmark: a JSON file, a text table, and plots."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path

from devtools.bench.run import HOLDFAST, Run

# What the code under measurement is built from: a commit that changes something else is the same.
_MEASURED = ("build.sbt", "project", "jvm/core", "jvm/spark", "jvm/bench")

_DIRTY = "-dirty"

_CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where and on what was measured."""

    cpu: str
    cores: int
    memory_gib: int
    java: str
    spark: str

    @property
    def text(self) -> str:
        """It in a line."""
        return (
            f"{self.cpu}, {self.cores} cores, {self.memory_gib} GiB, {self.java}, "
            f"Spark {self.spark}"
        )

    @classmethod
    def here(cls, *, java: Path, spark: str) -> Machine:
        """Look at this machine."""
        return cls(
            cpu=_cpu(),
            cores=len(os.sched_getaffinity(0)),
            memory_gib=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
            java=_first_line([java, "-version"]),
            spark=spark,
        )


@dataclass(frozen=True, slots=True)
class Result:
    """A run and the numbers that it found, by name.

    Attributes:
        run: the run.
        numbers: what was found.
        commit: the code that was measured, as `measured_commit` names it.
        machine: where.
        day: when, such as `2026-01-31`.
    """

    run: Run
    numbers: dict[str, float]
    commit: str
    machine: Machine
    day: str

    def is_of(self, commit: str, machine: Machine) -> bool:
        """Whether it measured the code of a commit, there.

        Changes that are not committed are nobody's.
        """
        same = (self.commit, self.machine) == (commit, machine)
        return same and not commit.endswith(_DIRTY)


def today() -> str:
    """Return the day, as results have it."""
    return datetime.now(timezone.utc).date().isoformat()


def measured_commit(root: Path) -> str:
    """Return the commit that last changed what is measured; it says if there are changes since."""
    git: list[str | Path] = ["git", "-C", root]
    commit = _first_line([*git, "log", "-1", "--format=%h", "--", *_MEASURED])
    changed = _first_line([*git, "status", "--porcelain", "--", *_MEASURED])
    return f"{commit}{_DIRTY}" if changed else commit


def write(folder: Path, name: str, results: Iterable[Result]) -> None:
    """Write `<name>.json` and `<name>.txt`."""
    found = list(results)
    folder.mkdir(parents=True, exist_ok=True)
    there = machines(found)
    document = {
        "machines": [asdict(machine) for machine in there],
        "results": [
            {
                **asdict(result.run),
                "commit": result.commit,
                "machine": there.index(result.machine),
                "day": result.day,
                "numbers": result.numbers,
            }
            for result in found
        ],
    }
    (folder / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    (folder / f"{name}.txt").write_text("\n".join(text(found)) + "\n")


def read(path: Path) -> list[Result]:
    """Read the results back from a JSON file; return none if there is none."""
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    there = [Machine(**machine) for machine in document["machines"]]
    return [
        Result(
            run=Run(
                entry["measure"],
                entry["provider"],
                entry["arguments"],
                entry["heap"],
                entry["options"],
                entry["repeats"],
                entry["group"],
            ),
            numbers=entry["numbers"],
            commit=entry["commit"],
            machine=there[entry["machine"]],
            day=entry["day"],
        )
        for entry in document["results"]
    ]


def machines(results: Iterable[Result]) -> list[Machine]:
    """Return where was measured; where most was comes first."""
    return [machine for machine, _ in Counter(result.machine for result in results).most_common()]


def where(results: Iterable[Result]) -> Iterator[str]:
    """Yield a line for each machine: the day on which was measured there last, and what it is."""
    found = list(results)
    for machine in machines(found):
        yield f"{max(r.day for r in found if r.machine == machine)}, {machine.text}"


def measured(results: Iterable[Result]) -> str:
    """Return a sentence that says when and where was measured."""
    return f"Measured {'; '.join(where(results))}."


def text(results: list[Result]) -> Iterator[str]:
    """Yield the lines of the table: a block for each measurement, a column for each provider."""
    yield from where(results)
    yield "x: how many times as much as Holdfast. Checkpoints in memory."
    blocks: dict[str, list[Result]] = {}
    for result in results:
        blocks.setdefault(result.run.title, []).append(result)
    for title, block in blocks.items():
        yield ""
        commits = dict.fromkeys(result.commit for result in block)
        cpus = dict.fromkeys(result.machine.cpu for result in block)
        yield f"{title} (commit {', '.join(commits)}; {', '.join(cpus)})"
        yield from _block(block)


def _block(block: list[Result]) -> Iterator[str]:
    numbers = {result.run.provider: result.numbers for result in block}
    ours = numbers.get(HOLDFAST, {})
    yield f"  {'':34}" + "".join(f"{provider:>26}" for provider in numbers)
    for name in dict.fromkeys(name for found in numbers.values() for name in found):
        cells = (
            _cell(found.get(name), None if provider == HOLDFAST else ours.get(name))
            for provider, found in numbers.items()
        )
        yield f"  {name:34}" + "".join(f"{cell:>26}" for cell in cells)


def _cell(value: float | None, ours: float | None) -> str:
    if value is None:
        return "-"
    ratio = f" ({value / ours:.2g} x)" if ours else ""
    return f"{rounded(value, digits=4)}{ratio}"


def rounded(value: float, *, digits: int) -> str:
    """Return a number with so many digits that count, or without a fraction if it has more."""
    return f"{value:,.0f}" if value >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def curves(results: list[Result], measure: str, number: str) -> dict[str, list[tuple[int, float]]]:
    """Return a number by rows for each provider, of a measurement that was done for several."""
    return _by_rows(
        (result.run.provider, {int(result.run.arguments["rows"]): result.numbers[number]})
        for result in results
        if result.run.measure == measure and number in result.numbers and not result.run.options
    )


def by_size(
    results: list[Result], number: str, *, group: str = "", query: str = ""
) -> dict[str, list[tuple[int, float]]]:
    """Return a number of `querySizes`, which has one for each size, by rows for each provider.

    Args:
        results: what was measured.
        number: its name without the size.
        group: the group that the measurement is a part of, if not one of its own.
        query: the query, if it is not the only one.
    """
    prefix = f"{number}At"
    return _by_rows(
        (
            result.run.provider,
            {
                int(name.removeprefix(prefix)): value
                for name, value in result.numbers.items()
                if name.startswith(prefix)
            },
        )
        for result in results
        if result.run.measure == "querySizes"
        and result.run.group == group
        and result.run.arguments.get("query", "") == query
        and not result.run.options
    )


def _by_rows(found: Iterable[tuple[str, dict[int, float]]]) -> dict[str, list[tuple[int, float]]]:
    """Put together what results have by rows, for each provider; of two values the first stays."""
    lines: dict[str, dict[int, float]] = {}
    for provider, points in found:
        lines[provider] = points | lines.get(provider, {})
    return {provider: sorted(points.items()) for provider, points in lines.items()}


def _cpu() -> str:
    names = (
        line.partition(":")[2].strip()
        for line in (_CPUINFO.read_text().splitlines() if _CPUINFO.exists() else [])
        if line.startswith("model name")
    )
    return next(names, platform.processor() or platform.machine())


def _first_line(command: list[str | Path]) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return next(iter((done.stdout or done.stderr).splitlines()), "")

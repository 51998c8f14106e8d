"""Looks for damage to checkpoints that `verify` does not see: the body of `./dev mutate`.

    PYTHONPATH=tests/python python -m mutations.search FOLDER --count 2000 --seed 1

Makes checkpoints of every kind once, damages a copy of one of them for each seed, asks `verify`
about it and lets Spark go on from it. What Spark does is kept in `FOLDER/truth.jsonl`, so that a
search that was interrupted goes on where it ended, and a second one with the same seeds asks
`verify` alone. Exit code 0 means that nothing was missed and
nothing ended in a traceback.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from mutations.mutate import Mutation, mutate
from mutations.outcomes import HANGS

_AT_A_TIME = 100
_UNCHANGED = -1


@dataclass(frozen=True)
class Case:
    """A damaged copy of a checkpoint."""

    seed: int
    query: str
    mutation: Mutation

    @classmethod
    def make(cls, seed: int, folder: Path) -> Case:
        """Damage a copy of a checkpoint; `copy_of` tells where it is."""
        rng = random.Random(seed)
        query = rng.choice(sorted(path.parent.name for path in folder.glob("*/checkpoint")))
        copied = _copy(folder, query, seed)
        return cls(seed, query, mutate(copied, rng))


def copy_of(folder: Path, seed: int) -> Path:
    return folder.parent / f"{folder.name}-cases" / str(seed)


def _copy(folder: Path, query: str, seed: int) -> Path:
    place = copy_of(folder, seed)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder / query / "checkpoint", place)
    return place


def verdict(checkpoint: Path, mutation: Mutation) -> str:
    """Return `sound`, what `verify` finds, or a traceback.

    Where nothing but the times of files tells that deltas have been exchanged, `verify` calls them
    sound and has a note: this counts as `noted` if the note names a file that was damaged.
    """
    try:
        found = verify_checkpoint(Checkpoint.open(str(checkpoint)))
    except CheckpointError as error:
        return f"refused: {error}"
    except Exception:  # noqa: BLE001 - what is looked for
        return f"traceback: {traceback.format_exc()}"
    if found.sound:
        named = [note.partition(" ")[0].removeprefix(f"{checkpoint}/") for note in found.notes]
        touched = [file for file in named if file in mutation.text]
        return f"noted: {'; '.join(found.notes)}" if touched else "sound"
    errors = "; ".join(broken.error for broken in found.broken) or "stores lack the version"
    return f"{'spoilt' if found.goes_on else 'damaged'}: {errors}"


def fresh(folder: Path, seed: int, query: str) -> None:
    """Make the copy of a case anew."""
    if seed < 0:
        _copy(folder, query, seed)
    else:
        Case.make(seed, folder)


def truths(folder: Path, cases: Iterable[tuple[int, str]]) -> Iterator[dict[str, Any]]:
    """Let Spark go on from copies, some at a time, which are removed; yield what came of each.

    A query that comes to no end keeps the others from theirs, as one does whose source has been
    told to make numbers for years: whatever hangs is tried once more, alone.
    """
    hanging: list[tuple[int, str]] = []
    for found in _restarted(folder, list(cases)):
        case = found["seed"], found["query"]
        shutil.rmtree(copy_of(folder, found["seed"]), ignore_errors=True)
        if found.get("error") == HANGS:
            hanging.append(case)
        else:
            yield found
    for seed, query in hanging:
        fresh(folder, seed, query)
        yield from _restarted(folder, [(seed, query)])


def _restarted(folder: Path, cases: list[tuple[int, str]]) -> Iterator[dict[str, Any]]:
    lines = [
        json.dumps({"query": query, "checkpoint": str(copy_of(folder, seed))})
        for seed, query in cases
    ]
    done = _spark_side("restart", folder, *lines)
    for (seed, query), line in zip(cases, done, strict=True):
        yield {"seed": seed, "query": query, **json.loads(line)}


def _spark_side(command: str, folder: Path, *lines: str) -> Iterator[str]:
    """Yield each line that Spark's side prints, as it comes."""
    module = [sys.executable, "-W", "ignore", "-m", "mutations.spark_side"]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*module, command, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(f"{line}\n" for line in lines))
        process.stdin.close()
        yield from process.stdout
        if process.wait():
            errors.seek(0)
            raise RuntimeError(errors.read()[-5000:])


def outcome(truth: dict[str, Any], right: dict[str, Any], written: dict[str, list[str]]) -> str:
    """Return `fails`, `differs`, `has another id` or `goes on`."""
    if "error" in truth:
        return "fails"
    output = truth["output"]
    if truth["query"] == "numbers":  # which are other ones at each run
        same = bool(output) and all(_counts_fit(row) for rows in output.values() for row in rows)
    else:
        expected = {**written, **right["output"]}
        same = all(expected.get(batch, rows) == rows for batch, rows in output.items())
        # One more or less of these runs when a batch had begun.
        same &= truth["query"] == "batches_of_numbers" or right["output"].keys() <= output.keys()
    if not same:
        return "differs"
    return "goes on" if truth["id"] == right["id"] else "has another id"


def _counts_fit(row: str) -> bool:
    """Tell whether a remainder has been counted as often as numbers up to the largest have it."""
    key, count, largest = (int(number) for number in re.findall(r"=(\d+)", row))
    return count == (largest - key) // 3 + 1


def main() -> int:
    """Search, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    made = folder / "made"
    if not made.exists():
        shutil.rmtree(folder, ignore_errors=True)
        list(_spark_side("make", folder))
        made.touch()
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    return _report(folder, list(_examined(folder, seeds)))


@dataclass(frozen=True)
class Examined:
    """A case, what `verify` said and what Spark did."""

    case: Case
    said: str
    really: str
    error: str

    @property
    def verdict(self) -> str:
        """`sound`, `noted`, `spoilt` for what is not needed, `damaged`, `refused`, `traceback`."""
        return self.said.partition(":")[0]

    @property
    def is_missed(self) -> bool:
        """Whether `verify` saw nothing of what Spark fails at or answers otherwise for."""
        return self.verdict == "sound" and self.really in ("fails", "differs")

    @property
    def is_wrong(self) -> bool:
        """Whether this must not happen."""
        says_it_goes_on = self.verdict in ("sound", "spoilt")
        return self.verdict == "traceback" or (
            says_it_goes_on and self.really in ("fails", "differs")
        )


def _examined(folder: Path, seeds: range) -> Iterator[Examined]:
    known = _Truths(folder)
    for start in range(seeds.start, seeds.stop, _AT_A_TIME):
        cases: list[tuple[Case, str]] = []
        for seed in range(start, min(start + _AT_A_TIME, seeds.stop)):
            case = Case.make(seed, folder)
            cases.append((case, verdict(copy_of(folder, seed), case.mutation)))
        known.learn((case.seed, case.query) for case, _ in cases)
        for case, said in cases:
            really, error = known.of(case)
            yield Examined(case, said, really, error)


class _Truths:
    """What Spark did with each case, kept in a file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = folder / "truth.jsonl"
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._known = {(t["seed"], t["query"]): t for t in map(json.loads, lines)}
        names = sorted(path.parent.name for path in folder.glob("*/checkpoint"))
        self._unchanged = {name: _UNCHANGED - i for i, name in enumerate(names)}
        for name, seed in self._unchanged.items():
            if (seed, name) not in self._known:
                _copy(folder, name, seed)
        self.learn((seed, name) for name, seed in self._unchanged.items())
        for name, seed in self._unchanged.items():
            if error := self._known[seed, name].get("error"):
                raise RuntimeError(f"{name} does not go on from a whole checkpoint: {error}")

    def learn(self, cases: Iterable[tuple[int, str]]) -> None:
        """Let Spark go on from the copies of those cases of which it is not known yet."""
        wanted = list(cases)
        unknown = [case for case in wanted if case not in self._known]
        with self._log.open("a") as out:
            for truth in truths(self._folder, unknown) if unknown else ():
                self._known[truth["seed"], truth["query"]] = truth
                out.write(json.dumps(truth) + "\n")
                out.flush()
        for seed, _ in wanted:
            shutil.rmtree(copy_of(self._folder, seed), ignore_errors=True)

    def of(self, case: Case) -> tuple[str, str]:
        """Return what came of a case, and the error if there was one."""
        truth = self._known[case.seed, case.query]
        right = self._known[self._unchanged[case.query], case.query]
        written = json.loads((self._folder / case.query / "output.json").read_text())
        return outcome(truth, right, written), truth.get("error", "")


def _report(folder: Path, found: list[Examined]) -> int:
    rows = [dataclasses.asdict(each) for each in found]
    (folder / "report.json").write_text(json.dumps(rows, indent=1))
    lines = []
    for each in found:
        if each.is_wrong:
            what = f"{each.case.seed} {each.case.query}: {each.case.mutation.text}"
            lines.append(f"{what}\n    Spark {each.really}: {each.error[:200]!r}")
            lines.append(f"    verify: {each.said[-2000:]}")
    tally = Counter((each.really, each.verdict) for each in found)
    lines += [
        f"{n:6} Spark {really}, verify: {said}" for (really, said), n in sorted(tally.items())
    ]
    missed = sum(each.is_missed for each in found)
    wrong = sum(each.is_wrong for each in found)
    lines.append(f"{len(found)} mutations: {missed} missed, {wrong} wrong in all")
    sys.stdout.write("\n".join([*lines, ""]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

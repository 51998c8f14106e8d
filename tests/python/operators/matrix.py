"""The whole run: all queries on Holdfast, killed twice and restarted, beside what they do on
Spark's provider, as it was recorded.

    python -m operators.matrix

runs them on Spark's provider, with the pyspark and the jars of the environment, and records it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recordings import record, recorded, recording

from harness import variables_with_tests
from operators import plan
from operators.cases import CASES
from operators.inputs import write_inputs
from operators.plan import Layout
from operators.readings import Readings

RECORDING = "operators"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Where a query was when its driver was killed.

    Attributes:
        planned: the newest batch in the log of offsets.
        committed: the newest batch in the log of commits.
        unwritten: folders of the stores, below the state's, without the version that the planned
            batch makes.
    """

    planned: int
    committed: int
    unwritten: frozenset[str]

    @classmethod
    def of(cls, checkpoint: Path) -> Kill:
        """Look at a checkpoint."""
        planned = _newest(checkpoint / "offsets")
        state = checkpoint / "state"
        stores = {delta.parent for delta in state.rglob("1.delta")}
        return cls(
            planned=planned,
            committed=_newest(checkpoint / "commits"),
            unwritten=frozenset(
                str(store.relative_to(state))
                for store in stores
                if not (store / f"{planned + 1}.delta").exists()
            ),
        )


@dataclass(frozen=True, slots=True)
class Matrix:
    """What the queries did.

    Attributes:
        layout: where their files are.
        kills: where each query on Holdfast was killed, by stage and case.
    """

    layout: Layout
    kills: dict[str, dict[str, Kill]]

    @classmethod
    def run(cls, folder: Path) -> Matrix:
        """Run all stages in a folder."""
        layout = Layout(folder)
        file = recording(RECORDING)
        if file.exists():
            write_inputs(layout.inputs)
            for name, text in recorded(file).items():
                to = layout.folder / name
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(text)
        else:
            run_on_spark(layout)
        kills = {}
        for stage in plan.STAGES:
            _drive(stage, layout)
            kills[stage] = {name: Kill.of(layout.checkpoint(name, plan.HOLDFAST)) for name in CASES}
        return cls(layout, kills)

    def output(self, case: str, provider: str) -> dict[str, list[str]]:
        """What each batch wrote at last, by the name of its file."""
        return _read_all(self.layout.output(case, provider))

    def progress(self, case: str, provider: str) -> dict[str, list[dict[str, Any]]]:
        """What the operators counted in each batch, by the name of its file."""
        return _read_all(self.layout.progress(case, provider))

    def readings(self, case: str, provider: str) -> Readings:
        """What readers found in the checkpoint at the end."""
        found: Readings = json.loads(self.layout.readings(case, provider).read_text())
        return found


def run_on_spark(layout: Layout) -> dict[str, str]:
    """Run all queries on Spark's provider; return what is kept of them, by names of files."""
    write_inputs(layout.inputs)
    _drive(plan.BY_SPARK, layout)
    files = (path for folder in layout.kept(plan.SPARK) for path in folder.rglob("*.json"))
    return {str(path.relative_to(layout.folder)): path.read_text() for path in files}


def _drive(stage: str, layout: Layout) -> None:
    """Run the driver of a stage until it says that it is where it should be killed, and kill it."""
    log = layout.log(stage)
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            [sys.executable, "-m", "operators.driver", stage, layout.folder, *CASES],
            cwd=layout.folder,
            env=variables_with_tests(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            # A group of its own, to kill Python, its JVM and their workers at once.
            start_new_session=True,
        ) as driver,
    ):
        assert driver.stdout is not None
        try:
            arrived = any(line.strip() == plan.ARRIVED for line in driver.stdout)
        finally:
            os.killpg(driver.pid, signal.SIGKILL)
    assert arrived, f"The driver of stage {stage} failed:\n{log.read_text()[-5000:]}"


def _newest(log: Path) -> int:
    return max(int(path.name) for path in log.iterdir() if path.name.isdigit())


def _read_all(folder: Path) -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.iterdir())}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as own:
        record(recording(RECORDING), run_on_spark(Layout(Path(own))))

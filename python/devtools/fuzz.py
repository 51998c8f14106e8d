"""`./dev fuzz`: the tests that draw what they try, for as long as one likes."""

from __future__ import annotations

import math
import os
import subprocess
import time

from devtools.workshop import Workshop


def fuzz(workshop: Workshop, *, seed: int, minutes: float | None) -> int:
    """Run these tests with one seed after the other until one fails; return the exit code.

    Args:
        workshop: where things are made.
        seed: the first seed.
        minutes: no seed is begun after so many; None for ever.
    """
    end = math.inf if minutes is None else time.monotonic() + 60 * minutes
    python = workshop.tools().program("python")
    variables = {**os.environ, "HOLDFAST_THOROUGH": "1"}
    while time.monotonic() < end:
        print(f"./dev fuzz --seed {seed}", flush=True)
        command = [
            *(str(python), "-m", "pytest", "-q", "-x", "-m", "fuzz", f"--hypothesis-seed={seed}"),
            *("-c", str(workshop.package / "pyproject.toml"), "--rootdir", str(workshop.root)),
            *("-p", "no:cacheprovider", str(workshop.root / "tests" / "python" / "checkpoint")),
        ]
        code = subprocess.run(command, check=False, cwd=workshop.root, env=variables).returncode
        if code:
            return code
        seed += 1
    return 0

"""`./dev filesystems`: what file systems do with checkpoints, and a query on a disturbed HDFS."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

from devtools import environments, processes
from devtools.ivy_jars import hdfs_jars, s3a_jars
from devtools.workshop import Workshop


def filesystems(workshop: Workshop, *, minutes: float, seed: int) -> int:
    """Try the cases on every file system, then run histories; return the exit code.

    Args:
        workshop: where things are made.
        minutes: no history is begun after so many.
        seed: of the first one.
    """
    line = workshop.line(None)
    workshop.jars()
    python = str(workshop.spark(line).program("python"))
    tests = workshop.root / "tests" / "python"
    path = os.pathsep.join(map(str, [workshop.package / "src", workshop.package, tests]))
    variables = {**workshop.brief_variables(line, workshop.java), "PYTHONPATH": path}
    with _store(workshop, tests) as store:
        cases: list[str | Path] = [
            *(python, "-m", "pytest", "-c", workshop.package / "pyproject.toml"),
            *("--rootdir", workshop.root, "-p", "no:cacheprovider", tests / "filesystems"),
        ]
        code = processes.run(
            cases, cwd=workshop.root, env={**variables, **jars_of_tests(workshop), **store}
        )
    if code:
        return code
    command = [
        *(python, "-m", "filesystems.search", str(hdfs_jars(workshop))),
        *(str(workshop.root / "target" / "filesystems"), f"--minutes={minutes}", f"--seed={seed}"),
    ]
    return processes.run(command, env=variables)


def jars_of_tests(workshop: Workshop) -> dict[str, str]:
    """Return the environment variables with which the tests of file systems run."""
    return {"HOLDFAST_HDFS_JARS": str(hdfs_jars(workshop))}


@contextmanager
def _store(workshop: Workshop, tests: Path) -> Iterator[Mapping[str, str]]:
    """Serve a store of objects; give the environment variables that lead the tests to it."""
    python = environments.objects_environment(workshop.root, workshop.steps).program("python")
    server = processes.start(
        [str(python), "-m", "objectstores.server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tests)},
    )
    answer, end = cast(TextIO, server.stdout), cast(TextIO, server.stdin)
    try:
        endpoint = answer.readline().strip()
        jars = str(s3a_jars(workshop))
        yield {"HOLDFAST_S3A_ENDPOINT": endpoint, "HOLDFAST_S3A_JARS": jars}
    finally:
        end.close()
        processes.wait(server)

"""`./dev objects`: a query whose checkpoint is in a store of objects, over S3's protocol."""

from __future__ import annotations

import subprocess
from pathlib import Path

from devtools import environments
from devtools.steps import fingerprint
from devtools.workshop import Workshop


def objects(workshop: Workshop, *, minutes: float, seed: int, count: bool) -> int:
    """Run histories of failing requests and killed processes; return the exit code.

    Args:
        workshop: where things are made.
        minutes: no history is begun after so many.
        seed: of the first one.
        count: count the requests of an undisturbed query, beside Spark's provider, in their place.
    """
    line = workshop.line(None)
    workshop.jars()
    tests = workshop.root / "tests" / "python"
    python = environments.objects_environment(workshop.root, workshop.steps).program("python")
    command = [
        *(str(python), "-m", "objectstores.search", str(_jars(workshop, tests))),
        *(str(workshop.root / "target" / "objects"), f"--minutes={minutes}", f"--seed={seed}"),
        *(["--count"] if count else []),
    ]
    variables = {**workshop.spark_variables(line), "PYTHONPATH": str(tests)}
    return subprocess.run(command, check=False, env=variables).returncode


def _jars(workshop: Workshop, tests: Path) -> Path:
    """Return the folder of the jars that Spark needs for `s3a`."""
    wanted = tests / "objectstores" / "ivy.xml"
    folder = workshop.steps.folder / "s3a-jars"
    ivy = environments.ivy_jar(workshop.spark(workshop.line(None)))
    workshop.steps.do(
        "jars of s3a",
        lambda log: log.run(
            *(workshop.java.command, "-jar", ivy, "-ivy", wanted),
            *("-retrieve", folder / "[artifact]-[revision].[ext]", "-overwriteMode", "always"),
        ),
        fingerprint=fingerprint(files=[wanted], root=workshop.root),
        product=folder,
    )
    return folder

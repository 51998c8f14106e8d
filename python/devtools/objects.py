"""`./dev objects`: a query whose checkpoint is in a store of objects, over S3's protocol."""

from __future__ import annotations

from devtools import environments, processes
from devtools.ivy_jars import s3a_jars
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
        *(str(python), "-m", "objectstores.search", str(s3a_jars(workshop))),
        *(str(workshop.root / "target" / "objects"), f"--minutes={minutes}", f"--seed={seed}"),
        *(["--count"] if count else []),
    ]
    variables = {**workshop.spark_variables(line), "PYTHONPATH": str(tests)}
    return processes.run(command, env=variables)

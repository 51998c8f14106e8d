"""The script that Spark's own scripts read before they start it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from holdfast_spark._programs import SECONDS_TO_ANSWER, answer_of
from holdfast_spark.doctor.diagnosis import Finding, warning


def script_findings(conf_folder: Path, *, seconds: float = SECONDS_TO_ANSWER) -> Iterator[Finding]:
    """Yield what is wrong with spark-env.sh, as far as reading it tells: nothing of it is run.

    Args:
        conf_folder: the folder that it is in.
        seconds: how long bash may take to read it.
    """
    script, bash = conf_folder / "spark-env.sh", shutil.which("bash")
    if not (bash and script.is_file()):
        return
    try:
        said = answer_of([bash, "-n", str(script)], seconds=seconds)
    except (OSError, subprocess.TimeoutExpired):
        return
    if said.returncode:
        why = said.stderr.partition("\n")[0].removeprefix(f"{script}: ").rstrip(" .:")
        yield warning(
            "settings",
            f"bash cannot read {script} ({why}): Spark starts without what stands there from that "
            f"place on. Correct it; bash -n {script} tells whether it can be read.",
        )

"""Delta Lake, which is no part of Spark: the jars of its newest release."""

from __future__ import annotations

import subprocess
from pathlib import Path

_WANTED = Path(__file__).with_name("delta.xml")


def spark_line() -> str:
    """Return the Spark line that the jars are for, such as `4.2`."""
    return _WANTED.read_text().partition('"delta-spark_')[2].partition("_")[0]


def fetch(folder: Path) -> tuple[Path, ...]:
    """Get the jars from the registry into a folder, or from what was got before; return them.

    Needs pyspark, with which Ivy comes.
    """
    import pyspark

    ivy = next(Path(pyspark.__file__).parent.glob("jars/ivy-*.jar"))
    pattern = str(folder / "[artifact]-[revision].[ext]")
    subprocess.run(
        ["java", "-jar", ivy, "-ivy", _WANTED, "-retrieve", pattern, "-overwriteMode", "always"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return tuple(sorted(folder.glob("*.jar")))

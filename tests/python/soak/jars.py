"""The jars of Delta Lake, which is no part of Spark."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

WANTED = Path(__file__).with_name("ivy.xml")


def line_of_delta() -> str:
    """Return the Spark line that the jars are for, such as `4.2`."""
    named = re.search(r"delta-spark_([\d.]+)_", WANTED.read_text())
    assert named is not None
    return named[1]


def fetch(folder: Path) -> tuple[Path, ...]:
    """Get the jars from the registry into a folder, or from what was got before; return them.

    Needs pyspark, with which Ivy comes.
    """
    import pyspark

    ivy = next(Path(pyspark.__file__).parent.glob("jars/ivy-*.jar"))
    pattern = str(folder / "[artifact]-[revision].[ext]")
    subprocess.run(
        ["java", "-jar", ivy, "-ivy", WANTED, "-retrieve", pattern, "-overwriteMode", "always"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return tuple(sorted(folder.glob("*.jar")))

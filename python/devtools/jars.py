"""Jars that are no part of Spark, from Maven Central."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from devtools.errors import DevError

_FOLDER = Path(__file__).parents[2] / ".dev" / "jars"


def fetch(wanted: Path) -> tuple[Path, ...]:
    """Get what an Ivy file names, unless it was got before; return the jars.

    Needs pyspark, with which Ivy comes. Any number of processes may ask for the same.
    """
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()
    folder = _FOLDER / f"{wanted.stem}-{digest[:12]}"
    if not folder.exists():
        _FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_FOLDER) as made:
            got = Path(made) / "jars"
            _retrieve(wanted, got)
            try:
                got.rename(folder)
            except OSError:
                if not folder.exists():  # another process was not faster
                    raise
    return tuple(sorted(folder.glob("*.jar")))


def of_pyspark(name: str) -> Path:
    """Return a jar that pyspark carries, by what comes before its version."""
    found = find_spec("pyspark")  # to import it takes a second, and warns of packages
    if found is None or found.origin is None:
        raise DevError("The jars are got with those of pyspark, which is not installed here.")
    return next((Path(found.origin).parent / "jars").glob(f"{name}-*.jar"))


def _retrieve(wanted: Path, folder: Path) -> None:
    ivy = of_pyspark("ivy")
    pattern = str(folder / "[artifact]-[revision].[ext]")
    subprocess.run(
        ["java", "-jar", ivy, "-ivy", wanted, "-retrieve", pattern, "-overwriteMode", "always"],
        check=True,
        stdout=subprocess.DEVNULL,
    )

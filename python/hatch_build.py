"""Refuses to build a wheel without the jars, which sbt makes and git does not have."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_JAR = r"holdfast-spark_(\d+\.\d+)_\d+\.\d+-{release}\.jar"


class JarsHook(BuildHookInterface[Any]):
    """Looks for a jar of every Spark line before a wheel is built.

    An editable installation has the jars that are there when it is used: it may come before them.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """End the build with a sentence where a jar is missing."""
        folder = Path(self.root) / "src" / "holdfast_spark" / "jars"
        jar = re.compile(_JAR.format(release=re.escape(self.metadata.version)))
        found = {name[1] for path in folder.glob("*.jar") if (name := jar.fullmatch(path.name))}
        missing = _lines(Path(self.root)) - found
        if version != "editable" and (missing or not found):
            lines = f" for Spark {', '.join(sorted(missing))}" if missing else ""
            sys.exit(
                f"A wheel of Holdfast needs its jars, and {folder} has none of version "
                f"{self.metadata.version}{lines}: run ./dev build in the repository first."
            )


def _lines(package: Path) -> set[str]:
    """Return the Spark lines that the repository knows; none outside of it."""
    file = package.parent / "project" / "spark-lines.json"
    return {entry["line"] for entry in json.loads(file.read_text())} if file.is_file() else set()

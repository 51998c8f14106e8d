"""Refuses to build a wheel or an sdist without the jars, which sbt makes and git does not have."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_JAR = r"holdfast-spark_(\d+\.\d+)_(\d+\.\d+)-{release}\.jar"


class JarsHook(BuildHookInterface[Any]):
    """Looks for a jar of every Spark line before anything is built.

    An editable installation has the jars that are there when it is used: it may come before them.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """End the build with a sentence where a jar is missing, or there is one too many.

        An sdist is left without the repository's `.gitignore`, which hatchling puts into each.
        """
        included = build_data.get("force_include", {})
        for path in [path for path, name in included.items() if name == ".gitignore"]:
            del included[path]
        folder = Path(self.root) / "src" / "holdfast_spark" / "jars"
        jar = re.compile(_JAR.format(release=re.escape(self.metadata.version)))
        present = {path.name: jar.fullmatch(path.name) for path in sorted(folder.glob("*.jar"))}
        found = {f"{name[1]} with Scala {name[2]}" for name in present.values() if name}
        others = [name for name, fits in present.items() if not fits]
        missing = _lines(Path(self.root)) - found
        if version == "editable":
            return
        if missing or not found:
            lines = f" for Spark {', '.join(sorted(missing))}" if missing else ""
            self._end(f"{folder} has none of version {self.metadata.version}{lines}")
        if others:
            self._end(f"{folder} has {', '.join(others)} of another version")

    def _end(self, found: str) -> None:
        sys.exit(
            f"The {self.target_name} of Holdfast needs its jars, and {found}: "
            "run ./dev build in the repository first."
        )


def _lines(package: Path) -> set[str]:
    """Return the Spark lines that the repository knows, each with its Scala; none outside of it."""
    file = package.parent / "project" / "spark-lines.json"
    entries = json.loads(file.read_text()) if file.is_file() else ()
    return {f"{entry['line']} with Scala {entry['scala'].rpartition('.')[0]}" for entry in entries}

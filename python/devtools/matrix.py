"""What is tested outside, by the workflows in `.github`: each Spark line with each JDK.

One JDK builds all, and another runs the tests: `./dev test --java`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

# What Spark itself is run on, by the Java that class files of a line are for: Spark 3.5, which runs
# on Java 8, knows none after 17.
_JAVAS = {"8": (8, 11, 17), "17": (17, 21)}
# Before this line Spark does not start on Java 25.
_FIRST_ON_25 = [4, 2]


def test_matrix(root: Path) -> str:
    """Return a JSON list of objects with a Spark line and a JDK, for `matrix.include`."""
    entries = json.loads((root / "project" / "spark-lines.json").read_text())
    lines = {entry["line"]: _javas(entry) for entry in entries}
    return json.dumps(
        [{"line": line, "java": str(java)} for line, javas in lines.items() for java in javas]
    )


def _javas(entry: Mapping[str, str]) -> tuple[int, ...]:
    on_25 = [int(part) for part in entry["line"].split(".")] >= _FIRST_ON_25
    return _JAVAS[entry["java"]] + ((25,) if on_25 else ())

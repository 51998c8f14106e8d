"""What is tested outside, by the workflows in `.github`: each Spark line with each JDK."""

from __future__ import annotations

import json
from pathlib import Path

# Those that ./dev builds with.
_JAVAS = (17, 21)


def test_matrix(root: Path) -> str:
    """Return a JSON list of objects with a Spark line and a JDK, for `matrix.include`."""
    entries = json.loads((root / "project" / "spark-lines.json").read_text())
    lines = dict.fromkeys(entry["line"] for entry in entries)
    return json.dumps([{"line": line, "java": str(java)} for line in lines for java in _JAVAS])

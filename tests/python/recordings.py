"""What Spark itself does, which tests compare Holdfast with, recorded for versions of Spark.

Running it again would tell nothing new: the version is the same, and so are the inputs. Where there
is no recording for the version under test, it is run; `./dev test --full` runs it always, and holds
it against the recording.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

_FOLDER = Path(__file__).with_name("recorded")


def recording(name: str) -> Path:
    """Return the file of a recording for the version of Spark under test; it may not be there."""
    return _FOLDER / f"{name}-{version('pyspark')}.json.gz"


def record(file: Path, texts: Mapping[str, str]) -> None:
    """Write a recording: texts by their names."""
    file.parent.mkdir(exist_ok=True)
    content = json.dumps(texts, sort_keys=True, indent=0)
    file.write_bytes(gzip.compress(content.encode(), mtime=0))


def recorded(file: Path) -> dict[str, str]:
    """Return the texts of a recording, by their names."""
    texts: dict[str, str] = json.loads(gzip.decompress(file.read_bytes()))
    return texts

"""Runs examples one after the other in one JVM; prints as JSON the lines that each has printed.

run_examples.py FOLDER NAME...
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"


def main(folder: Path, *names: str) -> None:
    printed = {}
    for name in names:
        sys.argv = [name, str(folder / name)]
        with contextlib.redirect_stdout(io.StringIO()) as out:
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        printed[name] = out.getvalue().splitlines()
    print(json.dumps(printed))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

"""A process that runs apps one after the other, in one JVM that stays: what `SharedSpark` starts.

    served.py JAR

Spark's classes are loaded and compiled once for all of them. Each line of its input is a JSON list:
an app, the folder to run it in, and the app's arguments. Each line that it answers is a JSON object
with `code`, `out` and `err`, as of a process of the app's own. An app finds no session and makes
its own; the stores that it leaves in memory go after it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

from pyspark import SparkContext

import stores_in_memory


def main(jar: str) -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    # What else writes to the output, such as the JVM, is no answer.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--jars {jar} pyspark-shell"
    SparkContext._ensure_initialized()
    # An app takes it for somebody's own.
    del os.environ["PYSPARK_SUBMIT_ARGS"]
    for line in sys.stdin:
        app, folder, *arguments = json.loads(line)
        answers.write(json.dumps(_run(app, folder, arguments)) + "\n")
        answers.flush()


def _run(app: str, folder: str, arguments: list[str]) -> dict[str, Any]:
    code, out, err = 0, io.StringIO(), ""
    argv, path, place = sys.argv, sys.path.copy(), Path.cwd()
    sys.argv = [app, *arguments]
    sys.path.insert(0, str(Path(app).parent))
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(app, run_name="__main__")
    except SystemExit as e:
        code = int(e.code or 0)
    except BaseException:  # noqa: BLE001 - whatever ends an app is the answer
        code, err = 1, traceback.format_exc()
    finally:
        sys.argv, sys.path[:] = argv, path
        os.chdir(place)
        _clean_up()
    return {"code": code, "out": out.getvalue(), "err": err}


def _clean_up() -> None:
    """Stop what an app that failed has left, and let go of all stores."""
    from pyspark.sql import SparkSession

    if (session := SparkSession.getActiveSession()) is not None:
        session.stop()
    if (context := SparkContext._active_spark_context) is not None:
        context.stop()
    stores_in_memory.let_go(SparkContext._jvm)


if __name__ == "__main__":
    main(*sys.argv[1:])

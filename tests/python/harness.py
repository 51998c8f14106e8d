"""What tests that start Spark share.

A test that starts Spark does so in a new process: a JVM lives as long as the Python process that
started it, and with the jars that it was started with. Where a test is not about how Spark starts,
but about what queries leave in checkpoints, its apps share a process: `SharedSpark`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devtools import class_data
from holdfast_spark import _jars

ROOT = Path(__file__).parents[2]
_TESTS = Path(__file__).parent
APPS = _TESTS / "apps"
_SERVED = _TESTS / "served.py"
_PACKAGE = ROOT / "python" / "src"


@dataclass(frozen=True)
class Finished:
    """A process that has ended."""

    code: int
    out: str
    err: str

    def result(self) -> dict[str, Any]:
        """The JSON object that an app prints last."""
        assert self.code == 0, self.err
        answer = json.loads(self.out.splitlines()[-1])
        assert isinstance(answer, dict)
        return answer


@dataclass(frozen=True)
class Spark:
    """Starts Spark in processes of their own, with a folder for what it leaves behind."""

    folder: Path

    def python(
        self, app: str, *arguments: str | Path, python: str | Path = sys.executable, **env: str
    ) -> Finished:
        """Run an app of `apps/` by Python, which starts the JVM."""
        return self._run([python, APPS / app, *arguments], python, env)

    def submit(self, *arguments: str | Path, **env: str) -> Finished:
        """Run `spark-submit` of the pyspark under test."""
        return self._run(["spark-submit", *arguments], sys.executable, env)

    def conf_folder(self, **files: str) -> Path:
        """Make a conf folder with the project's logging and the text of other files."""
        folder = self.folder / "conf"
        folder.mkdir()
        shutil.copy(ROOT / "conf" / "log4j2.properties", folder)
        for name, text in files.items():
            (folder / name.replace("_", "-")).with_suffix(".conf").write_text(text)
        return folder

    def _run(
        self, command: list[str | Path], python: str | Path, env: Mapping[str, str]
    ) -> Finished:
        variables = {**spark_variables(python), **env}
        if "SPARK_CONF_DIR" in env:  # which has what else a variable says
            del variables["LOG4J_CONFIGURATION_FILE"]
        done = subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=600,  # ends a process that hangs, on however slow a machine
        )
        return Finished(done.returncode, done.stdout, done.stderr)


class Served:
    """The process that runs the apps of `SharedSpark`: `served.py`, started when one is to run."""

    def __init__(self, folder: Path) -> None:
        """Say where the process is to run, and its log to lie."""
        self._folder = folder
        self._log = folder / "served.log"
        self._process: subprocess.Popen[str] | None = None

    def run(self, folder: Path, command: Sequence[str | Path]) -> Finished:
        """Run an app with arguments in a folder."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        before = self._log.stat().st_size
        # It ends a process that hangs, on however slow a machine.
        with_deadline = threading.Timer(600, process.kill)
        with_deadline.start()
        try:
            app, *arguments = map(str, command)
            process.stdin.write(json.dumps([app, str(folder), *arguments]) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        finally:
            with_deadline.cancel()
        said = self._log.read_bytes()[before:].decode(errors="replace")
        if not answer:
            self.close()
            return Finished(1, "", said)
        done = json.loads(answer)
        return Finished(done["code"], done["out"], said + done["err"])

    def close(self) -> None:
        """End the process, and with it the JVM."""
        if self._process is not None:
            with self._process:  # which takes the end of its input for its own
                pass
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            from holdfast_spark._jars import installed_spark_line, jar_path

            with self._log.open("w") as log:
                self._process = subprocess.Popen(
                    [sys.executable, _SERVED, jar_path(installed_spark_line())],
                    cwd=self._folder,
                    env={**variables_with_tests(), "TZ": "UTC"},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
        return self._process


@dataclass(frozen=True)
class SharedSpark:
    """Runs apps in a process that tests share, each with a session of its own, in a folder."""

    folder: Path
    served: Served

    def python(self, app: str | Path, *arguments: str | Path) -> Finished:
        """Run an app."""
        return self.served.run(self.folder, [app, *arguments])


def is_since(line: str) -> bool:
    """Tell whether the Spark under test is of a line, or of a newer one."""
    return not _jars.is_before(_jars.installed_spark_line(), line)


def search_path(*folders: str | Path) -> str:
    """Return `PYTHONPATH` for processes that need more folders than an environment knows.

    The package of this tree comes first: an environment that several trees share has that of one.
    """
    found = (str(_PACKAGE), *map(str, folders), os.environ.get("PYTHONPATH"))
    return os.pathsep.join(filter(None, found))


def spark_variables(python: str | Path = sys.executable) -> dict[str, str]:
    """Return the environment variables to start Spark with by a Python."""
    return {
        "JAVA_TOOL_OPTIONS": class_data.BRIEF_JVM,
        **os.environ,
        "PYTHONPATH": search_path(),
        "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
        "PYSPARK_PYTHON": str(python),
        "SPARK_LOCAL_IP": "127.0.0.1",
        **class_data.variables(ROOT),
    }


def variables_with_tests() -> dict[str, str]:
    """Return the environment variables to start Spark with where workers import what tests have.

    A function of an app is in a module that lies here, and so is what starts the workers.
    """
    variables = spark_variables()
    daemon = "-Dspark.python.daemon.module=worker_daemon"
    return {
        **variables,
        "PYTHONPATH": search_path(_TESTS),
        "JAVA_TOOL_OPTIONS": f"{variables['JAVA_TOOL_OPTIONS']} {daemon}",
    }


def check_word_counts(result: dict[str, Any]) -> None:
    """Check what `count_words.py` prints: the right counts, kept by Holdfast."""
    words = ["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"]
    assert result["counted"] == Counter(words)
    distinct = len(set(words))
    assert result["operator"]["num_rows_total"] == distinct
    assert result["operator"]["holdfast_live_bytes"] > 0
    assert sum(store["num_keys"] for store in result["stores"]) == distinct
    assert {store["store_name"] for store in result["stores"]} == {"default"}

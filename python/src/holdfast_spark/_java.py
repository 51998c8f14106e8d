"""The Java that pyspark would start, looked at before it does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from holdfast_spark._jars import installed_spark_line
from holdfast_spark._programs import SECONDS_TO_ANSWER, answer_of
from holdfast_spark._text import cause_text
from holdfast_spark.errors import NoJavaError, PySparkNotInstalledError

# What Spark 4 needs; before it, Java 8 did.
OLDEST_JAVA = 17
_OLDEST_BEFORE = 8
_SPARK_OF_OLDEST = 4

_VERSION = re.compile(r'version "(?P<version>(?:1\.)?(?P<major>\d+)[^"]*)"')
# A line of spark-env.sh, which Spark's scripts read before they look for Java.
_HOME_IN_SCRIPT = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?JAVA_HOME=["']?(?P<home>[^"'$#;\s]+)["']?[ \t]*(?:[#;].*)?$""",
    re.MULTILINE,
)
# What the launcher of Spark 4 asks Java for; some runtimes are built without.
_MODULE = "jdk.incubator.vector"


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaFound:
    """The Java that runs Spark.

    Attributes:
        path: the program.
        version: its version.
        named_by: what named it: JAVA_HOME, the PATH, or spark-env.sh.
    """

    path: str
    version: str
    named_by: str


def check_java() -> None:
    """Make sure that there is a Java which runs the installed Spark: JAVA_HOME's, else the PATH's.

    Raises:
        NoJavaError: there is none, it does not start or answer, or it is older than that Spark
            needs.
    """
    try:
        line = installed_spark_line()
    except PySparkNotInstalledError:  # which whoever starts it tells
        line = str(_SPARK_OF_OLDEST)
    find_java(line)


def find_java(
    line: str, conf_folder: Path | None = None, *, seconds: float = SECONDS_TO_ANSWER
) -> JavaFound:
    """Return the Java that Spark's scripts would start.

    Args:
        line: the Spark line that it has to run.
        conf_folder: Spark's, whose spark-env.sh may name another than the environment does.
        seconds: how long it may take to say its version.

    Raises:
        NoJavaError: there is none, it does not start or answer, or it is older than that Spark
            needs.
    """
    oldest = _oldest(line)
    java, named_by = _named(conf_folder)
    if java is None:
        raise NoJavaError(f"Spark needs Java and there is no java on the PATH: {_need(line)}")
    said = "" if named_by == "the PATH" else f" (from {named_by})"
    try:
        run = answer_of([java, "-version"], seconds=seconds)
    except subprocess.TimeoutExpired as error:
        raise _hangs(f"{java}{said}", line=line, seconds=seconds) from error
    except OSError as error:
        raise _does_not_start(f"{java}{said}", cause_text(error), line) from error
    if run.returncode:
        raise _does_not_start(f"{java}{said}", f"exit code {run.returncode}", line)
    found = _VERSION.search(run.stderr)
    if found is None or int(found["major"]) < oldest:
        version = found["major"] if found else "of unknown version"
        raise NoJavaError(
            f"Spark needs Java {oldest} or newer and {java} is {version}: {_need(line)}"
        )
    return JavaFound(path=java, version=found["version"], named_by=named_by)


def lacks_module(java: JavaFound, line: str, *, seconds: float = SECONDS_TO_ANSWER) -> str | None:
    """Return the module that Spark's launcher asks for and a Java lacks, None where it has it.

    Args:
        java: the Java.
        line: the Spark line.
        seconds: how long it may take to say so.

    Raises:
        NoJavaError: it does not answer.
    """
    if not _is_of_spark_4(line):
        return None
    try:
        run = answer_of([java.path, f"--add-modules={_MODULE}", "-version"], seconds=seconds)
    except subprocess.TimeoutExpired as error:
        raise _hangs(java.path, line=line, seconds=seconds) from error
    return _MODULE if run.returncode else None


def _oldest(line: str) -> int:
    return OLDEST_JAVA if _is_of_spark_4(line) else _OLDEST_BEFORE


def _need(line: str) -> str:
    return f"install Java {_oldest(line)} or newer and point JAVA_HOME at it."


def _does_not_start(java: str, why: str, line: str) -> NoJavaError:
    return NoJavaError(f"Spark needs Java and {java} does not start ({why}): {_need(line)}")


def _hangs(java: str, *, line: str, seconds: float) -> NoJavaError:
    return NoJavaError(
        f"Spark needs Java and {java} has not said its version in {seconds:g} seconds: try "
        f"{java.partition(' ')[0]} -version in a terminal, or {_need(line)}"
    )


def _is_of_spark_4(line: str) -> bool:
    return int(line.partition(".")[0]) >= _SPARK_OF_OLDEST


def _named(conf_folder: Path | None) -> tuple[str | None, str]:
    """Return the program, and what names it."""
    script = conf_folder / "spark-env.sh" if conf_folder else None
    if script and script.is_file():
        homes = _HOME_IN_SCRIPT.findall(script.read_text(encoding="utf-8", errors="replace"))
        if homes:
            return f"{homes[-1]}/bin/java", str(script)
    if home := os.environ.get("JAVA_HOME"):
        return f"{home}/bin/java", "JAVA_HOME"
    return shutil.which("java"), "the PATH"

"""The Java that pyspark would start, looked at before it does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from holdfast_spark._text import cause_text
from holdfast_spark.errors import NoJavaError

OLDEST_JAVA = 17

_VERSION = re.compile(r'version "(?P<version>(?:1\.)?(?P<major>\d+)[^"]*)"')
# A line of spark-env.sh, which Spark's scripts read before they look for Java.
_HOME_IN_SCRIPT = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?JAVA_HOME=["']?(?P<home>[^"'$#;\s]+)["']?[ \t]*(?:[#;].*)?$""",
    re.MULTILINE,
)
# What Spark's launcher asks of Java 17 and newer; some runtimes are built without.
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
    """Make sure that there is a Java which runs Spark 4: JAVA_HOME's, else the PATH's.

    Raises:
        NoJavaError: there is none, it does not start, or it is older than Java 17.
    """
    find_java()


def find_java(conf_folder: Path | None = None) -> JavaFound:
    """Return the Java that Spark's scripts would start, which runs Spark 4.

    Args:
        conf_folder: Spark's, whose spark-env.sh may name another than the environment does.

    Raises:
        NoJavaError: there is none, it does not start, or it is older than Java 17.
    """
    need = f"install Java {OLDEST_JAVA} or newer and point JAVA_HOME at it."
    java, named_by = _named(conf_folder)
    if java is None:
        raise NoJavaError(f"Spark needs Java and there is no java on the PATH: {need}")
    said = "" if named_by == "the PATH" else f" (from {named_by})"
    try:
        run = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoJavaError(
            f"Spark needs Java and {java}{said} does not start ({cause_text(error)}): {need}"
        ) from error
    found = _VERSION.search(run.stderr)
    if found is None or int(found["major"]) < OLDEST_JAVA:
        version = found["major"] if found else "of unknown version"
        raise NoJavaError(
            f"Spark needs Java {OLDEST_JAVA} or newer and {java} is {version}: {need}"
        )
    return JavaFound(path=java, version=found["version"], named_by=named_by)


def lacks_module(java: JavaFound) -> str | None:
    """Return the module that Spark's launcher asks for and a Java lacks, None where it has it."""
    run = subprocess.run(
        [java.path, f"--add-modules={_MODULE}", "-version"], capture_output=True, check=False
    )
    return _MODULE if run.returncode else None


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

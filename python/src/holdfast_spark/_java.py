"""The Java that pyspark would start, looked at before it does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from holdfast_spark._text import cause_text
from holdfast_spark.errors import NoJavaError

OLDEST_JAVA = 17

_VERSION = re.compile(r'version "(?:1\.)?(?P<major>\d+)')


def check_java() -> None:
    """Make sure that there is a Java which runs Spark 4: JAVA_HOME's, else the PATH's.

    Raises:
        NoJavaError: there is none, it does not start, or it is older than Java 17.
    """
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    need = f"install Java {OLDEST_JAVA} or newer and point JAVA_HOME at it."
    if java is None:
        raise NoJavaError(f"Spark needs Java and there is no java on the PATH: {need}")
    try:
        run = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoJavaError(
            f"Spark needs Java and {java}{' (from JAVA_HOME)' if home else ''} does not start "
            f"({cause_text(error)}): {need}"
        ) from error
    found = _VERSION.search(run.stderr)
    if found is None or int(found["major"]) < OLDEST_JAVA:
        version = found["major"] if found else "of unknown version"
        raise NoJavaError(
            f"Spark needs Java {OLDEST_JAVA} or newer and {java} is {version}: {need}"
        )

"""JVMs that start Spark in half the time: an archive of class data for each Spark line.

An archive has the classes that a small streaming query loads, parsed and verified
(`java -XX:ArchiveClassesAtExit`, Java 13). A JVM takes it only if it is of the same Java and its
class path begins with the same jars, and else starts without. What comes first on Spark's class
path is the conf folder, which the JVM leaves out only if there is none: settings come by other ways
then.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from devtools.environments import Environment, SparkLine
from devtools.java import Java
from devtools.steps import Log, Steps, fingerprint

OLDEST_JAVA = 13
"""The first that makes an archive."""

BRIEF_JVM = " ".join(
    (
        # More compilers and collectors would only take their time.
        *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
        # Without the second compiler, Java has little room for what the first one makes, and makes
        # it again and again.
        "-XX:ReservedCodeCacheSize=240m",
        # Spark is so large that most of it would be interpreted. An old Java may not know this.
        *("-XX:+IgnoreUnrecognizedVMOptions", "-XX:CompileThresholdScaling=0.4"),
    )
)
"""For JVMs that live for a minute. A matrix of queries takes four fifths of the time that it
takes with the first compiler as it is, and little more than half of that with both."""

_TESTS = "tests/python"
_APP = f"{_TESTS}/checkpoint/apps/count_on.py"
_WORDS = "to\nbe\nor\nnot\nto\nbe\n"


def variables(root: Path) -> dict[str, str]:
    """Return the environment variables for Spark to have no conf folder, and to log quietly."""
    return {
        "SPARK_CONF_DIR": str(root / ".dev" / "no-conf"),
        "LOG4J_CONFIGURATION_FILE": str(root / "conf" / "log4j2.properties"),
    }


def java_options(archive: Path) -> str:
    """Return `JAVA_TOOL_OPTIONS` for JVMs of tests, after those of the machine's own."""
    own = os.environ.get("JAVA_TOOL_OPTIONS", "")
    # Without a word where the archive does not fit: some tests have class paths of their own.
    return f"{own} {BRIEF_JVM} -Xshare:auto -Xlog:disable '-XX:SharedArchiveFile={archive}'".strip()


def class_data(
    root: Path, steps: Steps, line: SparkLine, environment: Environment, java: Java
) -> Path:
    """Make the archive of a Spark line, by a query that counts words; return its path."""
    name = f"class data {line.line}"
    archive = steps.folder / "class-data" / f"spark-{line.line}.jsa"

    def make(log: Log) -> None:
        work = steps.folder / "class-data" / f"work-{line.line}"
        shutil.rmtree(work, ignore_errors=True)
        archive.unlink(missing_ok=True)
        words = work / "words"
        words.mkdir(parents=True)
        (words / "1.txt").write_text(_WORDS)
        options = f"{BRIEF_JVM} -Xlog:disable -XX:ArchiveClassesAtExit='{archive}'"
        log.run(
            *(environment.program("spark-submit"), "--driver-java-options", options),
            *(root / _APP, work),
            cwd=work,
            env=environment.variables(java, **variables(root), PYTHONPATH=str(root / _TESTS)),
        )
        shutil.rmtree(work)

    steps.do(
        name,
        make,
        fingerprint=fingerprint(
            *(line.pyspark, str(java.home), BRIEF_JVM, _made(java.home), _made(environment.folder)),
            files=[root / _APP, (root / _APP).with_name("spark_classes.py")],
            root=root,
        ),
        product=archive,
    )
    return archive


def _made(folder: Path) -> str:
    """When a folder was made, or filled anew."""
    return str(folder.stat().st_mtime_ns)

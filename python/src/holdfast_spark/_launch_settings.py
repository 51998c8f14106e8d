"""What the user asked of Spark outside the session builder, read before a JVM runs.

`spark-submit`, which pyspark starts to get a JVM, reads these sources, a later one winning
(`org.apache.spark.deploy.SparkSubmitArguments` of Spark 4.2): the file spark-defaults.conf or the
one that `--properties-file` names, `--conf`, then options of their own such as `--jars`.
"""

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from holdfast_spark._text import cause_text
from holdfast_spark.errors import (
    NoPysparkShellError,
    SubmitArgumentsError,
    UnreadablePropertiesError,
)

SUBMIT_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"

# What spark-submit runs for a Python that has started it. It stands behind the options.
SHELL = "pyspark-shell"
_OPTION_SETTINGS = {
    "--jars": "spark.jars",
    "--packages": "spark.jars.packages",
    "--master": "spark.master",
    "--driver-memory": "spark.driver.memory",
    "--executor-memory": "spark.executor.memory",
    "--driver-class-path": "spark.driver.extraClassPath",
}
# What spark-submit takes with a value, and what alone (`SparkSubmitOptionParser` of Spark 4.3).
_WITH_VALUE = frozenset(
    (
        *("--archives", "--class", "--conf", "-c", "--deploy-mode", "--driver-class-path"),
        *("--driver-cores", "--driver-default-class-path", "--driver-java-options"),
        *("--driver-library-path", "--driver-memory", "--exclude-packages", "--executor-cores"),
        *("--executor-memory", "--extra-properties-file", "--files", "--jars", "--keytab"),
        *("--kill", "--master", "--name", "--num-executors", "--packages", "--principal"),
        *("--properties-file", "--proxy-user", "--py-files", "--queue", "--remote"),
        *("--repositories", "--status", "--total-executor-cores"),
    )
)
_ALONE = frozenset(
    (
        *("--help", "-h", "--load-spark-defaults", "--supervise", "--usage-error"),
        *("--verbose", "-v", "--version"),
    )
)
SUBMIT_OPTIONS = _WITH_VALUE | _ALONE
_WITH_EQUALS = re.compile(r"(--[^=]+)=(.+)", re.DOTALL)

# The syntax of java.util.Properties, which Spark reads these files with.
_CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\n[ \t\f]*")
_KEY = re.compile(r"\s*((?:\\.|[^\\\s=:])+)(?:\s*[=:]\s*|\s+|$)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def launch_settings(spark_home: Path) -> dict[str, str]:
    """Return the settings that a JVM started now would begin with, without the builder's.

    Args:
        spark_home: the Spark distribution that will be started; its `conf` folder counts unless
            SPARK_CONF_DIR names another one.

    Raises:
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS has a quote that is not closed.
    """
    options, _ = read_options(submit_arguments())
    settings = read_properties(properties_file(spark_home))
    for name, value in options:
        if name in ("--conf", "-c"):
            key, _, setting = value.partition("=")
            settings[key] = setting
    settings.update((_OPTION_SETTINGS[n], value) for n, value in options if n in _OPTION_SETTINGS)
    return settings


def conf_folder(spark_home: Path) -> Path:
    """Return the folder that a Spark distribution reads its settings from."""
    return Path(os.environ.get("SPARK_CONF_DIR") or spark_home / "conf")


def properties_file(spark_home: Path) -> Path:
    """Return the file of settings that a JVM started now would read, which need not be there.

    Raises:
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS has a quote that is not closed.
    """
    options, _ = read_options(submit_arguments())
    named = [Path(value) for name, value in options if name == "--properties-file"]
    return named[-1] if named else conf_folder(spark_home) / "spark-defaults.conf"


def submit_arguments() -> list[str]:
    """Return PYSPARK_SUBMIT_ARGS as pyspark splits it."""
    arguments = os.environ.get(SUBMIT_ARGUMENTS, SHELL)
    try:
        return shlex.split(arguments)
    except ValueError as e:
        raise SubmitArgumentsError(arguments=arguments, reason=cause_text(e)) from e


def require_shell() -> None:
    """Check that PYSPARK_SUBMIT_ARGS ends with the application that a Python needs.

    Raises:
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS has a quote that is not closed.
        NoPysparkShellError: it ends with something else, or is empty.
    """
    arguments = submit_arguments()
    if arguments[-1:] != [SHELL]:
        options = [argument for argument in arguments if argument != SHELL]
        raise NoPysparkShellError(
            arguments=os.environ[SUBMIT_ARGUMENTS], instead=shlex.join([*options, SHELL])
        )


def set_submit_jars(jars: str) -> None:
    """Make `jars`, separated by commas, the value of `--jars` in PYSPARK_SUBMIT_ARGS.

    It goes last among the options, before the name of the application, so that it wins over one
    that is there already.
    """
    *options, application = submit_arguments()
    os.environ[SUBMIT_ARGUMENTS] = shlex.join([*options, "--jars", jars, application])


def has_submit_jars() -> bool:
    """Tell whether PYSPARK_SUBMIT_ARGS has an option `--jars`."""
    options, _ = read_options(submit_arguments())
    return any(name == "--jars" for name, _ in options)


def read_properties(path: Path) -> dict[str, str]:
    """Read a file in the syntax of `java.util.Properties`; a missing file has no settings.

    As in Spark (`Utils.getPropertiesFromFile`, 4.3), what is not UTF-8 becomes a sign that says so.

    Raises:
        UnreadablePropertiesError: it cannot be read.
    """
    if not path.is_file():
        return {}
    try:
        read = path.read_text(encoding="utf-8", errors="replace")
    except OSError as e:
        raise UnreadablePropertiesError(path=str(path), why=e.strerror or str(e)) from e
    text = _CONTINUED.sub(r"\1", read)
    settings = {}
    for line in text.splitlines():
        content = line.strip()
        key = _KEY.match(content)
        if key and content[0] not in "#!":
            settings[_unescape(key[1])] = _unescape(content[key.end() :])
    return settings


def read_options(arguments: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options that have a value, with it, and what is no option.

    They are written `--name value` or `--name=value`. The first that is no option, spark-submit
    takes for the application, or refuses.
    """
    options, others = [], []
    rest = iter(arguments)
    for argument in rest:
        whole = _WITH_EQUALS.fullmatch(argument)
        name = whole[1] if whole else argument
        if name in _WITH_VALUE:
            value = whole[2] if whole else next(rest, None)
            if value is not None:
                options.append((name, value))
        elif name not in _ALONE:
            others.append(argument)
    return options, others


def _unescape(text: str) -> str:
    def character(escape: re.Match[str]) -> str:
        code = escape[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _CONTROL.get(code, code)

    return _ESCAPE.sub(character, text)

"""What the user asked of Spark outside the session builder, read before a JVM runs.

`spark-submit`, which pyspark starts to get a JVM, reads these sources, a later one winning
(`org.apache.spark.deploy.SparkSubmitArguments` of Spark 4.3): the file spark-defaults.conf, unless
`--properties-file` names one and `--load-spark-defaults` does not ask for both; that one; those
that `--extra-properties-file` names, in their order; `--conf`; then options of their own such as
`--jars`.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from holdfast_spark._setting_names import JARS
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
    "--jars": JARS,
    "--packages": "spark.jars.packages",
    "--master": "spark.master",
    "--driver-memory": "spark.driver.memory",
    "--executor-memory": "spark.executor.memory",
    "--driver-class-path": "spark.driver.extraClassPath",
}
_SETTING_OPTIONS = ("--conf", "-c")
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
_PROPERTIES_FILE = "--properties-file"
_EXTRA_FILE, _DEFAULTS_TOO = "--extra-properties-file", "--load-spark-defaults"
# Those that came with a Spark line (the same of Spark 3.5 has not got them).
OPTIONS_SINCE = {_EXTRA_FILE: "4.0", _DEFAULTS_TOO: "4.0"}
_WITH_EQUALS = re.compile(r"(--[^=]+)=(.+)", re.DOTALL)

# The syntax of java.util.Properties, which Spark reads these files with. Blanks are these three,
# and those at the end of a line belong to it: before one, a backslash continues nothing.
_BLANKS = " \t\f"
_LINE_ENDS = re.compile(r"\r\n|\n|\r")
_IS_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\\Z")
_KEY = re.compile(r"((?:\\.|[^\\ \t\f=:])+)[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
# What Spark takes from around a value (`Utils.trimExceptCRLF`).
_TRIMMED = "".join(sign for sign in map(chr, range(ord(" ") + 1)) if sign not in "\r\n")


def launch_settings(spark_home: Path) -> dict[str, str]:
    """Return the settings that a JVM started now would begin with, without the builder's.

    Args:
        spark_home: the Spark distribution that will be started; its `conf` folder counts unless
            SPARK_CONF_DIR names another one.

    Raises:
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS has a quote that is not closed.
    """
    options, _ = read_options(submit_arguments())
    settings: dict[str, str] = {}
    for file in properties_files(spark_home):
        settings.update(read_properties(file))
    for name, value in options:
        if name in _SETTING_OPTIONS:
            key, _, setting = value.partition("=")
            settings[key] = setting
    settings.update((_OPTION_SETTINGS[n], value) for n, value in options if n in _OPTION_SETTINGS)
    return settings


def conf_folder(spark_home: Path) -> Path:
    """Return the folder that a Spark distribution reads its settings from."""
    return Path(os.environ.get("SPARK_CONF_DIR") or spark_home / "conf")


def properties_files(spark_home: Path) -> list[Path]:
    """Return the files of settings that a JVM started now would read, which need not be there.

    What a later one sets wins.

    Raises:
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS has a quote that is not closed.
    """
    named, extra = named_files()
    loads_defaults = not named or _DEFAULTS_TOO in alone_options(submit_arguments())
    defaults = [conf_folder(spark_home) / "spark-defaults.conf"] if loads_defaults else []
    return [*defaults, *named[-1:], *extra]


def named_files() -> tuple[list[Path], list[Path]]:
    """Return the files that PYSPARK_SUBMIT_ARGS names, those instead of and those beside another.

    Of the first kind Spark reads the last one.

    Raises:
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS has a quote that is not closed.
    """
    options, _ = read_options(submit_arguments())
    by_option: dict[str, list[Path]] = {_PROPERTIES_FILE: [], _EXTRA_FILE: []}
    for name, value in options:
        if name in by_option:
            by_option[name].append(Path(value))
    return by_option[_PROPERTIES_FILE], by_option[_EXTRA_FILE]


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
    """Tell whether PYSPARK_SUBMIT_ARGS sets jars, by `--jars` or as `spark.jars` by `--conf`."""
    options, _ = read_options(submit_arguments())
    return any(
        name == "--jars" or (name in _SETTING_OPTIONS and value.partition("=")[0] == JARS)
        for name, value in options
    )


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
    settings = {}
    for content in _logical_lines(read):
        if key := _KEY.match(content):
            settings[_unescape(key[1])] = _unescape(content[key.end() :]).strip(_TRIMMED)
    return settings


def _logical_lines(text: str) -> Iterator[str]:
    """Yield the lines of properties with what they are continued by, which comments are not."""
    whole = ""
    for end in _LINE_ENDS.split(text):
        line = end.lstrip(_BLANKS)
        if not whole and line[:1] in ("", "#", "!"):
            continue
        whole += line
        if _IS_CONTINUED.search(whole):
            whole = whole[:-1]
        else:
            yield whole
            whole = ""
    if whole:
        yield whole


def read_options(arguments: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options that have a value, with it, and what is no option.

    They are written `--name value` or `--name=value`. The first that is no option, spark-submit
    takes for the application, or refuses.
    """
    options: list[tuple[str, str]] = []
    others: list[str] = []
    for name, value in _split(arguments):
        if value is not None:
            options.append((name, value))
        elif name not in SUBMIT_OPTIONS:
            others.append(name)
    return options, others


def alone_options(arguments: Sequence[str]) -> list[str]:
    """Return the options that stand alone."""
    return [name for name, _ in _split(arguments) if name in _ALONE]


def _split(arguments: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield options and what is none, with the value of those that have one."""
    rest = iter(arguments)
    for argument in rest:
        whole = _WITH_EQUALS.fullmatch(argument)
        name = whole[1] if whole else argument
        if name in _WITH_VALUE:
            yield name, whole[2] if whole else next(rest, None)
        else:
            yield (name if name in _ALONE else argument), None


def _unescape(text: str) -> str:
    def character(escape: re.Match[str]) -> str:
        code = escape[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _CONTROL.get(code, code)

    return _ESCAPE.sub(character, text)

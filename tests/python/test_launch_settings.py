"""What the user asked of Spark outside the builder."""

import errno
import json
import random
import re
import shlex
from pathlib import Path
from zipfile import ZipFile

import pytest

from harness import Spark
from holdfast_spark import _launch_settings
from holdfast_spark._jars import installed_spark_line, jar_paths
from holdfast_spark.errors import SubmitArgumentsError, UnreadablePropertiesError

pytestmark = pytest.mark.usefixtures("no_spark_settings")
NOWHERE = Path("no", "spark", "home")


def submit_with(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", shlex.join([*arguments, "pyspark-shell"]))


def test_nothing_asked_is_nothing() -> None:
    assert _launch_settings.launch_settings(NOWHERE) == {}


def test_the_conf_folder_is_the_one_of_spark_home_unless_the_environment_names_another(
    tmp_path: Path, no_spark_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text("spark.jars home.jar\n")
    (no_spark_settings / "spark-defaults.conf").write_text("spark.jars named.jar\n")
    assert _launch_settings.launch_settings(tmp_path) == {"spark.jars": "named.jar"}
    monkeypatch.delenv("SPARK_CONF_DIR")
    assert _launch_settings.launch_settings(tmp_path) == {"spark.jars": "home.jar"}


def test_submit_options_win_over_conf_and_conf_over_files(
    no_spark_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (no_spark_settings / "spark-defaults.conf").write_text("spark.a file\nspark.jars file\n")
    submit_with(monkeypatch, "--jars", "b.jar", "--conf", "spark.a=c=d", "--packages=e:f:g")
    assert _launch_settings.launch_settings(NOWHERE) == {
        "spark.a": "c=d",
        "spark.jars": "b.jar",
        "spark.jars.packages": "e:f:g",
    }


def test_a_properties_file_takes_the_place_of_the_defaults(
    tmp_path: Path, no_spark_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (no_spark_settings / "spark-defaults.conf").write_text("spark.a defaults\n")
    (tmp_path / "my.conf").write_text("spark.b mine\n")
    submit_with(monkeypatch, "--properties-file", str(tmp_path / "my.conf"))
    assert _launch_settings.launch_settings(NOWHERE) == {"spark.b": "mine"}


def test_more_files_come_behind_the_defaults_and_before_conf(
    no_spark_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `SparkSubmitArguments.mergeDefaultSparkProperties` of Spark 4.0 to 4.3."""
    files = {
        "spark-defaults.conf": "spark.a 0\nspark.b 0\nspark.c 0\nspark.d 0\nspark.e 0",
        "mine.conf": "spark.b 1\nspark.c 1\nspark.d 1\nspark.e 1",
        "more.conf": "spark.c 2\nspark.d 2\nspark.e 2",
        "most.conf": "spark.d 3\nspark.e 3",
    }
    for name, text in files.items():
        (no_spark_settings / name).write_text(text)
    mine, more, most = (
        str(no_spark_settings / f"{name}.conf") for name in ("mine", "more", "most")
    )
    extra = ("--extra-properties-file", more, f"--extra-properties-file={most}")
    of_mine = ("--properties-file", mine)

    def asked(*arguments: str) -> dict[str, str]:
        submit_with(monkeypatch, *arguments, "--conf", "spark.e=4")
        settings = _launch_settings.launch_settings(NOWHERE)
        return {name.removeprefix("spark."): value for name, value in settings.items()}

    whole = {"a": "0", "b": "1", "c": "2", "d": "3", "e": "4"}
    assert asked(*extra, *of_mine, "--load-spark-defaults") == whole
    assert asked(*extra, *of_mine) == {name: whole[name] for name in "bcde"}
    assert asked(*extra) == {**whole, "b": "0"}
    assert asked("--load-spark-defaults") == {**dict.fromkeys("abcd", "0"), "e": "4"}


def test_jars_are_set_for_submit_and_win_over_earlier_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    submit_with(monkeypatch, "--jars", "a.jar", "--conf", "spark.x=with space")
    assert _launch_settings.has_submit_jars()
    _launch_settings.set_submit_jars("a.jar,b.jar")
    assert _launch_settings.launch_settings(NOWHERE) == {
        "spark.jars": "a.jar,b.jar",
        "spark.x": "with space",
    }
    assert _launch_settings.submit_arguments()[-1] == "pyspark-shell"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--conf", "spark.jars=a.jar"),
        ("-c", "spark.jars=a.jar"),
        ("--conf=spark.jars=a.jar",),
        ("--jars=a.jar", "--conf", "spark.jars=lost.jar"),
    ],
)
def test_jars_by_a_setting_for_submit_are_jars_for_submit(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit_with(monkeypatch, *arguments)
    assert _launch_settings.has_submit_jars()
    assert _launch_settings.launch_settings(NOWHERE) == {"spark.jars": "a.jar"}
    _launch_settings.set_submit_jars("a.jar,b.jar")
    assert _launch_settings.launch_settings(NOWHERE) == {"spark.jars": "a.jar,b.jar"}


def test_other_settings_for_submit_are_no_jars(
    no_spark_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (no_spark_settings / "spark-defaults.conf").write_text("spark.jars a.jar\n")
    submit_with(monkeypatch, "--conf", "spark.jars.ivy=/ivy", "--conf", "spark.a=spark.jars=b")
    assert not _launch_settings.has_submit_jars()


def test_values_of_options_are_no_options(monkeypatch: pytest.MonkeyPatch) -> None:
    submit_with(monkeypatch, "--name", "--jars", "--verbose", "--conf=spark.a=--packages")
    assert not _launch_settings.has_submit_jars()
    assert _launch_settings.launch_settings(NOWHERE) == {"spark.a": "--packages"}


@pytest.mark.spark
def test_the_options_are_those_of_spark() -> None:
    import pyspark

    (jar,) = Path(pyspark.__file__).parent.glob("jars/spark-launcher_*.jar")
    with ZipFile(jar) as archive:
        code = archive.read("org/apache/spark/launcher/SparkSubmitOptionParser.class")
    # The constants of a class, of which those are texts that begin with 1 and their length.
    found = {
        option[: length[0]].decode()
        for length, option in re.findall(rb"\x01\x00(.)(--?[a-z][a-z-]*)", code, re.DOTALL)
    }
    assert "--jars" in found
    assert found <= _launch_settings.SUBMIT_OPTIONS
    if installed_spark_line() == list(jar_paths())[-1]:  # that came with the newest Spark
        assert found == _launch_settings.SUBMIT_OPTIONS


def test_arguments_that_cannot_be_split_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf 'spark.a=b pyspark-shell")
    with pytest.raises(SubmitArgumentsError, match=r"No closing quotation.*correct or unset it"):
        _launch_settings.launch_settings(NOWHERE)


def test_files_are_read_as_java_reads_properties(tmp_path: Path) -> None:
    path = tmp_path / "java.properties"
    path.write_text(
        "# comment\n"
        "! comment, as of C:\\\n"
        "\n"
        "spark.blank    value with blanks\n"
        "spark.equals = value\n"
        "spark.colon:value\n"
        "  spark.tabs\t\tvalue\n"
        "spark.long  a,\\\n"
        "            b\n"
        "spark.escaped  C:\\\\jars\\u0021\n"
        "spark.key\\ with\\:marks  v\n"
        "spark.empty\n"
    )
    assert _launch_settings.read_properties(path) == {
        "spark.blank": "value with blanks",
        "spark.equals": "value",
        "spark.colon": "value",
        "spark.tabs": "value",
        "spark.long": "a,b",
        "spark.escaped": "C:\\jars!",
        "spark.key with:marks": "v",
        "spark.empty": "",
    }


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        # What a line ends with stays: a blank behind a backslash is what is escaped.
        ("a b\\ \nc d\n", {"a": "b", "c": "d"}),
        ("a b\\\t\nc d\n", {"a": "b", "c": "d"}),
        ("a b\\\\\nc d\n", {"a": "b\\", "c": "d"}),
        # What Python takes for blanks besides these is a part of names and values.
        ("\u00a0a\u2003b c\u00a0\n", {"\u00a0a\u2003b": "c\u00a0"}),
        ("a\fb\n\f c d\n", {"a": "b", "c": "d"}),
        ("a\x0bb c\n", {"a\x0bb": "c"}),
        ("a b\x85c d\n", {"a": "b\x85c d"}),
        # Spark takes blanks from around a value, but for ends of lines.
        ("a \\ b\\t \nc \\nd\\n \n", {"a": "b", "c": "\nd\n"}),
        # A line with nothing but a backslash is none.
        ("\\\n# comment\na b\n", {"a": "b"}),
        ("a b,\\\n# c\n", {"a": "b,# c"}),
        ("a b\\\n\nc d\\", {"a": "b", "c": "d"}),
        ("=without a name\n", {}),
    ],
)
def test_blanks_and_backslashes_are_those_of_java(
    text: str, settings: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "java.properties"
    path.write_bytes(text.encode())
    assert _launch_settings.read_properties(path) == settings


@pytest.mark.slow
@pytest.mark.spark
def test_files_of_any_signs_are_read_as_by_spark(spark: Spark) -> None:
    signs = random.Random(1)
    files = [spark.folder / f"{at}.conf" for at in range(500)]
    for file in files:
        text = "".join(signs.choices("ab\\\\\\\n\n\r \t\f=:#!tn\x0b\x1f\x85\u00a0\u2003", k=40))
        file.write_bytes(text.encode())
    done = spark.python("read_properties.py", *files)
    assert done.code == 0, done.err
    read = json.loads(done.out.splitlines()[-1])
    for file, settings in zip(files, read, strict=True):
        settings.pop("", None)  # which is no setting's name
        assert _launch_settings.read_properties(file) == settings, file.read_bytes()


def test_bytes_that_are_not_utf_8_are_read_as_by_spark(tmp_path: Path) -> None:
    path = tmp_path / "spark-defaults.conf"
    path.write_bytes(b"# f\xfcr alle\nspark.master local\nspark.app.name z\xfcgig\n")
    assert _launch_settings.read_properties(path) == {
        "spark.master": "local",
        "spark.app.name": "z\ufffdgig",
    }


def test_a_file_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spark-defaults.conf"
    path.touch()

    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(UnreadablePropertiesError, match="conf, in which Spark looks for settings"):
        _launch_settings.read_properties(path)

"""The look at Java before Spark is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast_spark import _java
from holdfast_spark._java import JavaFound, check_java, find_java, lacks_module
from holdfast_spark.errors import NoJavaError
from programs import hanging, java_home


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_a_java_that_runs_spark_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    home = java_home(tmp_path, f"""echo 'openjdk version "{version}" 2025-04-15' >&2""")
    monkeypatch.setenv("JAVA_HOME", str(home))
    check_java()


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("""echo 'openjdk version "1.8.0_402"' >&2""", "Java 17 or newer and .*/bin/java is 8:"),
        ("""echo 'openjdk version "11.0.2"' >&2""", "Java 17 or newer and .*/bin/java is 11:"),
        ("echo hello >&2", "is of unknown version"),
        ("exit 3", "does not start"),
    ],
)
def test_another_java_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, sentence: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, script)))
    with pytest.raises(NoJavaError, match=sentence):
        check_java()


def test_spark_before_4_runs_on_java_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_java, "installed_spark_line", lambda: "3.5")
    said = """echo 'openjdk version "1.8.0_402"' >&2; test "$1" = -version"""
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, said)))
    check_java()
    # It asks for no module either.
    assert lacks_module(find_java("3.5"), "3.5") is None
    monkeypatch.setattr(_java, "installed_spark_line", lambda: "4.0")
    with pytest.raises(NoJavaError, match=r"Java 17 or newer and .*/bin/java is 8:"):
        check_java()


def test_a_missing_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoJavaError, match="there is no java on the PATH"):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    with pytest.raises(NoJavaError, match=r"from JAVA_HOME\) does not start"):
        check_java()


@pytest.mark.parametrize("line", ["JAVA_HOME={}", "  export JAVA_HOME='{}'  # ours"])
def test_the_script_of_spark_names_java_before_the_environment_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    (tmp_path / "jdk").mkdir()
    home = java_home(tmp_path / "jdk", """echo 'openjdk version "21.0.2" 2024-01-16' >&2""")
    script = tmp_path / "spark-env.sh"
    script.write_text(f"#!/bin/sh\n# JAVA_HOME=/old\n{line.format(home)}\n")
    assert find_java("4.2", tmp_path) == JavaFound(
        path=f"{home}/bin/java", version="21.0.2", named_by=str(script)
    )
    script.write_text("JAVA_HOME=$(elsewhere)\n")
    with pytest.raises(NoJavaError, match="from JAVA_HOME"):
        find_java("4.2", tmp_path)


def test_a_runtime_that_lacks_what_spark_asks_for_is_told(tmp_path: Path) -> None:
    home = java_home(tmp_path, """case "$*" in *incubator*) exit 1;; esac""")
    java = JavaFound(path=f"{home}/bin/java", version="17", named_by="JAVA_HOME")
    assert lacks_module(java, "4.2") == "jdk.incubator.vector"
    (home / "bin" / "java").write_text("#!/bin/sh\n")
    assert lacks_module(java, "4.2") is None
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    assert lacks_module(java, "3.5") is None  # which does not ask for it


def test_a_java_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = java_home(tmp_path, hanging(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(home))
    sentence = (
        r"java \(from JAVA_HOME\) has not said its version in 0.01 seconds: try .*/bin/java -v"
    )
    with pytest.raises(NoJavaError, match=sentence):
        find_java("4.2", seconds=0.01)
    java = JavaFound(path=f"{home}/bin/java", version="17", named_by="JAVA_HOME")
    with pytest.raises(NoJavaError, match="has not said its version"):
        lacks_module(java, "4.2", seconds=0.01)


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "17.0.15"])
def test_spark_before_4_runs_on_older_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    home = java_home(tmp_path, f"""echo 'openjdk version "{version}" 2025-04-15' >&2""")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java("3.5").version == version
    (home / "bin" / "java").write_text("""#!/bin/sh\necho 'java version "1.7.0"' >&2\n""")
    with pytest.raises(NoJavaError, match=r"Java 8 or newer and .*/bin/java is 7:"):
        find_java("3.5")

"""Finds Java and sbt."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from devtools.errors import DevError
from devtools.steps import Steps

_NEEDED = 17
_PROPERTY = re.compile(r"^\s*(java\.home|java\.specification\.version) = (.+?)\s*$", re.MULTILINE)
# It lives for minutes: to optimise more, and to collect beside the program, would only take time.
_JVM_OPTIONS = [
    *("-Xmx2g", "-Xss4m", "-XX:+UseParallelGC"),
    # Without the second compiler, Java has little room for what the first one makes.
    *("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=256m"),
]
_SBT_OPTIONS = [
    "-Dsbt.color=false",
    "-Dsbt.supershell=false",
    "-Dsbt.server.autostart=false",
    "-Dfile.encoding=UTF-8",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java Development Kit, or a runtime.

    Attributes:
        home: its folder.
        version: of the language, such as 8 or 17.
    """

    home: Path
    version: int

    @property
    def command(self) -> Path:
        """The program `java`."""
        return self.home / "bin" / "java"


def find_java() -> Java:
    """Return the JDK that JAVA_HOME names, else the one that `java` on the PATH belongs to.

    Raises:
        DevError: there is none, it is too old, or it lacks the compiler.
    """
    wanted = f"install a Java Development Kit {_NEEDED} or newer and set JAVA_HOME to its folder"
    java_home = os.environ.get("JAVA_HOME")
    command = str(Path(java_home, "bin", "java")) if java_home else "java"
    place = f"JAVA_HOME is {java_home}" if java_home else "the PATH is searched"
    home, version = _home_and_version(command, place, wanted)
    if version < _NEEDED:
        raise DevError(f"{command} is Java {version}, which is too old ({place}): {wanted}.")
    if not (home / "bin" / "javac").exists():
        raise DevError(f"{home} has no compiler (javac), it is a Java runtime only: {wanted}.")
    return Java(home=home, version=version)


def java_in(folder: Path) -> Java:
    """Return the Java in a folder, of any version, with a compiler or without.

    Raises:
        DevError: there is none.
    """
    home = folder.absolute()
    wanted = "give the folder of a JDK or JRE, which has bin/java"
    _, version = _home_and_version(str(home / "bin" / "java"), f"--java is {folder}", wanted)
    return Java(home=home, version=version)


def _home_and_version(command: str, place: str, wanted: str) -> tuple[Path, int]:
    if not shutil.which(command):
        raise DevError(f"No Java was found ({place}): {wanted}.")
    shown = subprocess.run(
        [command, "-XshowSettings:properties", "-version"],
        check=False,
        capture_output=True,
        text=True,
    )
    properties = dict(_PROPERTY.findall(shown.stderr))
    try:
        version, home = properties["java.specification.version"], Path(properties["java.home"])
    except KeyError:
        raise DevError(f"{command} does not say its version ({place}): {wanted}.") from None
    return home, int(version.removeprefix("1."))


def find_sbt(root: Path, steps: Steps, *, java: Java, ivy: Path) -> list[str]:
    """Return the command that starts sbt: an installed one of version 1, else the fetched launcher.

    Args:
        root: the project's folder; its `project/build.properties` says which sbt builds it.
        steps: does the fetching.
        java: runs the launcher.
        ivy: jar of Apache Ivy, which fetches it.
    """
    installed = shutil.which("sbt")
    if installed and _script_version(installed).startswith("1."):
        return [installed, *(f"-J{option}" for option in _JVM_OPTIONS), *_SBT_OPTIONS]
    properties = (root / "project" / "build.properties").read_text()
    version = properties.partition("sbt.version=")[2].split()[0]
    launcher = steps.folder / "sbt-launch.jar"
    steps.do(
        "sbt launcher",
        lambda log: log.run(
            *(java.command, "-jar", ivy, "-dependency", "org.scala-sbt", "sbt-launch", version),
            *("-confs", "default", "-types", "jar", "-overwriteMode", "always"),
            *("-retrieve", steps.folder / "[artifact].[ext]"),
        ),
        fingerprint=version,
        product=launcher,
    )
    return [str(java.command), *_JVM_OPTIONS, *_SBT_OPTIONS, "-jar", str(launcher)]


def _script_version(sbt: str) -> str:
    """Return the version of an installed sbt's script, which prints it at the end of its output."""
    answer = subprocess.run(
        [sbt, "--script-version"], check=False, capture_output=True, text=True
    ).stdout.split()
    return answer[-1] if answer else ""

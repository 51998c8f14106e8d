"""The command `./dev release`."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from devtools.errors import DevError
from devtools.release.maven import GROUP, artifact_problems, pom_place_problems
from devtools.release.publishing import hindrances, repository_url
from devtools.release.python_package import (
    check_installation,
    sdist_problems,
    wheel_problems,
)
from devtools.steps import Log
from devtools.workshop import Workshop

_CHECKSUMS = "SHA256SUMS"


class ReleaseError(DevError):
    """What would be published is not as it has to be, or not all has been done before."""

    def __init__(self, sentence: str, problems: Iterable[str]) -> None:
        super().__init__("".join((f"{sentence}:", *(f"\n  {problem}" for problem in problems))))


def release(workshop: Workshop, *, publish: bool) -> int:
    """Make what is published, check it, and publish it when told; return the exit code.

    Raises:
        ReleaseError: something is wrong with what was made, or stands in the way of publishing.
        StepFailedError: something could not be made.
    """
    version = workshop.version
    missing = list(hindrances(workshop.root, version, os.environ))
    if publish and missing:
        raise ReleaseError("Nothing was published, for some things have to be done before", missing)
    made = _Release(workshop)
    made.make()
    made.check()
    print(f"\n{os.path.relpath(made.folder)} has what is published as {version}:")
    for path in made.files():
        print(f"  {path.relative_to(made.folder)}  {path.stat().st_size:,} bytes")
    if publish:
        made.publish()
    elif missing:
        print("\nIt is not published, and before it can be:")
        for sentence in missing:
            print(f"  {sentence}")
    else:
        print("\n./dev release --publish publishes it.")
    return 0


class _Release:
    """What is published, below `.dev/release`: `maven` and `python`, with checksums of all."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._version = workshop.version
        self.folder = workshop.steps.folder / "release"
        self._maven = self.folder / "maven"
        self._python = self.folder / "python"

    def make(self) -> None:
        """Make the artifacts anew."""
        workshop = self._workshop
        self._jars = [jar.name for jar in workshop.jars()]
        staging = workshop.root / "target" / "sona-staging"
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(staging, ignore_errors=True)
        workshop.sbt("release jars", "-Dholdfast.release=true", "publish")
        shutil.copytree(staging, self._maven)
        # The wheel is made from the sdist, as everybody makes it who installs that.
        build = ("-m", "build", "--outdir", self._python, workshop.package)
        self._do("release package", lambda log: log.run(self._program("python"), *build))

    def check(self) -> None:
        """Check everything that was made.

        Raises:
            ReleaseError: something is wrong.
            StepFailedError: an archive does not install, or an index would not show it right.
        """
        workshop, root = self._workshop, self._workshop.root
        (wheel,) = self._python.glob("*.whl")
        (sdist,) = self._python.glob("*.tar.gz")
        modules = [jar.removesuffix(f"-{self._version}.jar") for jar in self._jars]
        licence = (root / "LICENSE").read_bytes()
        address = repository_url(root)
        problems = [
            *artifact_problems(self._maven, modules, self._version),
            *wheel_problems(wheel, jars=self._jars, licence=licence, address=address),
            *sdist_problems(sdist, jars=self._jars, licence=licence),
        ]
        for pom in sorted(self._maven.rglob("*.pom")):
            problems += pom_place_problems(pom.name, pom.read_text(), address)
        if problems:
            raise ReleaseError("What was made cannot be published", problems)
        twine = (self._program("twine"), "check", "--strict", wheel, sdist)
        self._do("release description", lambda log: log.run(*twine))
        lines = sorted({line.line for line in workshop.lines})
        for kind, archive in (("wheel", wheel), ("sdist", sdist)):
            empty = workshop.steps.folder / "venv" / f"release-{kind}"
            install = partial(check_installation, folder=empty, archive=archive, lines=lines)
            self._do(f"install the {kind}", install)
        digests = [
            f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(self.folder)}"
            for path in self.files()
        ]
        (self.folder / _CHECKSUMS).write_text("\n".join(digests) + "\n")

    def files(self) -> list[Path]:
        """Return what is published, without the checksums that lie beside."""
        endings = (".jar", ".pom", ".whl", ".tar.gz")
        return sorted(path for path in self.folder.rglob("*") if path.name.endswith(endings))

    def publish(self) -> None:
        """Sign the artifacts and publish all."""
        workshop = self._workshop
        staging = workshop.root / "target" / "sona-staging"

        def sign(log: Log) -> None:
            group = staging.joinpath(*GROUP.split("."))
            for path in sorted((*group.rglob("*.jar"), *group.rglob("*.pom"))):
                log.run("gpg", "--batch", "--yes", "--armor", "--detach-sign", path)

        self._do("sign", sign)
        workshop.sbt("publish the jars", "-Dholdfast.release=true", "sonaRelease")
        archives = sorted(self._python.iterdir())
        upload: list[str | Path] = [self._program("twine"), "upload", "--non-interactive"]
        self._do("publish the package", lambda log: log.run(*upload, *archives))
        print(f"\nHoldfast {self._version} is published.")

    def _program(self, name: str) -> Path:
        return self._workshop.publisher().program(name)

    def _do(self, name: str, action: Callable[[Log], None]) -> None:
        self._workshop.steps.do(name, action)

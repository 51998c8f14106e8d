"""The wheel and the sdist: what has to be in them, and that they install in empty environments."""

from __future__ import annotations

import re
import sys
import tarfile
from collections.abc import Iterator, Sequence
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

from devtools.environments import Environment
from devtools.steps import Log

_LICENCE = "LICENSE"
# A link in Markdown that is neither an address nor a place on the page itself.
_RELATIVE_LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)\s]+)")
_IMPORTS = "import holdfast_spark.checkpoint, holdfast_spark.capacity, holdfast_spark.doctor"


def wheel_problems(
    wheel: Path, *, jars: Sequence[str], licence: bytes, address: str | None = None
) -> Iterator[str]:
    """Yield what is wrong with a wheel.

    Args:
        wheel: its file.
        jars: names of the jars that it has to carry.
        licence: the text of the licence.
        address: of the sources, None where there is none yet.
    """
    with ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    yield from _content_problems(wheel, list(contents), jars)
    folder = next(name.partition("/")[0] for name in contents if ".dist-info/" in name)
    if contents.get(f"{folder}/licenses/{_LICENCE}") != licence:
        yield f"{wheel.name} does not have the licence"
    yield from metadata_problems(wheel, contents[f"{folder}/METADATA"].decode(), address)


def sdist_problems(sdist: Path, *, jars: Sequence[str], licence: bytes) -> Iterator[str]:
    """Yield what is wrong with an sdist, as `wheel_problems`."""
    stem = sdist.name.removesuffix(".tar.gz")
    with tarfile.open(sdist) as archive:
        members = {member.name: member for member in archive}
        yield from _content_problems(sdist, list(members), jars)
        for name, member in members.items():
            if not member.isfile():
                yield f"{sdist.name} has {name}, which is no file of its own"
            if "/." in name:
                yield f"{sdist.name} has {name}, which is for the repository alone"
        file = members.get(f"{stem}/{_LICENCE}")
        read = archive.extractfile(file) if file and file.isfile() else None
        if read is None or read.read() != licence:
            yield f"{sdist.name} does not have the licence"


def metadata_problems(file: Path, metadata: str, address: str | None = None) -> Iterator[str]:
    """Yield what is wrong with what a package index shows of a package.

    Args:
        file: the archive.
        metadata: the text of its metadata.
        address: of the sources, None where there is none yet.
    """
    fields = Parser().parsestr(metadata)
    urls = dict(url.split(", ", 1) for url in fields.get_all("Project-URL", []))
    if (found := urls.get("Repository")) != address:
        yield f"{file.name} has the sources at {found} and not at {address}"
    for extra in fields.get_all("Provides-Extra", []):
        if extra in ("test", "tests", "lint", "dev"):
            yield f"{file.name} offers the extra {extra}, which is for who develops it"
    for link in _RELATIVE_LINK.findall(metadata):
        yield f"{file.name} is described with a link to {link}, which leads nowhere in an index"


def check_installation(log: Log, *, folder: Path, archive: Path, lines: Sequence[str]) -> None:
    """Install an archive in an environment that has nothing else, and try it.

    Args:
        log: of the step.
        folder: where to make the environment.
        archive: the wheel or the sdist.
        lines: the Spark lines whose jars it has to find.
    """
    environment = Environment(folder=folder)
    log.run(sys.executable, "-m", "venv", "--clear", folder)
    python = environment.program("python")
    log.run(python, "-m", "pip", "install", "--disable-pip-version-check", archive)
    holdfast = environment.program("holdfast")
    log.run(holdfast, "--version", cwd=folder)
    for line in lines:
        log.run(holdfast, "jar", "--spark", line, cwd=folder)
    log.run(python, "-c", _IMPORTS, cwd=folder)
    log.run(python, "-m", "pip", "check", cwd=folder)


def _content_problems(file: Path, names: Sequence[str], jars: Sequence[str]) -> Iterator[str]:
    found = {name.rpartition("/")[2] for name in names if name.endswith(".jar")}
    for jar in sorted(set(jars) - found):
        yield f"{file.name} lacks {jar}"
    for jar in sorted(found - set(jars)):
        yield f"{file.name} has {jar}, which is none of this version"
    for name in names:
        if "__pycache__" in name or "/devtools/" in name:
            yield f"{file.name} has {name}, which nobody needs"

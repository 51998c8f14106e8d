"""The artifacts for Maven: what has to be there of each, and in its POM."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

GROUP = "io.holdfast"

# What lies beside the POM of an artifact, with a file that has to be in it.
_JARS = {
    "": "io/holdfast/holdfast.properties",
    "-sources": "io/holdfast/HoldfastPlugin.scala",
    "-javadoc": "index.html",
}
_LICENCE = "META-INF/LICENSE"
_CHECKSUMS = ("md5", "sha1")

_NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"
# What Maven Central refuses a POM without.
_OF_PROJECT = (
    *("name", "description", "licenses/license/name", "licenses/license/url"),
    "developers/developer/name",
)


def artifact_problems(folder: Path, modules: Sequence[str], version: str) -> Iterator[str]:
    """Yield what is wrong with what was published into a folder.

    Args:
        folder: a repository in Maven's layout.
        modules: names of the artifacts that have to be there, all others being wrong.
        version: the version of all of them.
    """
    group = folder.joinpath(*GROUP.split("."))
    found = {path.name for path in group.iterdir()} if group.is_dir() else set()
    for other in sorted(found - set(modules)):
        yield f"{other} was published, and is no artifact of a Spark line"
    for module in modules:
        place = group / module / version
        stem = f"{module}-{version}"
        for mark, content in _JARS.items():
            yield from _jar_problems(place / f"{stem}{mark}.jar", content)
        yield from _pom_problems(place / f"{stem}.pom", module, version)
        for file in sorted(place.glob("*.jar")) + sorted(place.glob("*.pom")):
            yield from _checksum_problems(file)


def pom_lacks(pom: str) -> list[str]:
    """Return the elements that Maven Central wants and a POM does not have."""
    return [path for path in _OF_PROJECT if not _text(pom, path)]


def pom_place_problems(name: str, pom: str, address: str | None) -> Iterator[str]:
    """Yield where a POM does not say where the sources are.

    Args:
        name: of its file.
        pom: its text.
        address: of the sources, None where there is none yet.
    """
    connection = address and f"scm:git:{address}.git"
    for path, expected in (("url", address), ("scm/url", address), ("scm/connection", connection)):
        if (found := _text(pom, path) or None) != expected:
            yield f"{name} has {path} {found} and not {expected}"


def _text(pom: str, path: str) -> str:
    project = ElementTree.fromstring(pom)  # noqa: S314 - our own build has written it
    tags = "/".join(_NAMESPACE + part for part in path.split("/"))
    return (project.findtext(tags) or "").strip()


def _jar_problems(jar: Path, content: str) -> Iterator[str]:
    if not jar.is_file():
        yield f"{jar.name} is missing"
        return
    with ZipFile(jar) as archive:
        names = set(archive.namelist())
    for name in (content, _LICENCE):
        if name not in names:
            yield f"{jar.name} has no {name}"


def _pom_problems(file: Path, module: str, version: str) -> Iterator[str]:
    if not file.is_file():
        yield f"{file.name} is missing"
        return
    pom = file.read_text()
    for path in pom_lacks(pom):
        yield f"{file.name} has no {path}"
    project = ElementTree.fromstring(pom)  # noqa: S314 - our own build has written it
    for tag, expected in (("groupId", GROUP), ("artifactId", module), ("version", version)):
        if (found := project.findtext(_NAMESPACE + tag)) != expected:
            yield f"{file.name} has the {tag} {found} and not {expected}"


def _checksum_problems(file: Path) -> Iterator[str]:
    for kind in _CHECKSUMS:
        beside = file.with_name(f"{file.name}.{kind}")
        digest = hashlib.new(kind, file.read_bytes(), usedforsecurity=False).hexdigest()
        if not beside.is_file() or beside.read_text().split()[:1] != [digest]:
            yield f"{beside.name} is missing or not that of {file.name}"

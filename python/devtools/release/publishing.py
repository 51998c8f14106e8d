"""What stands in the way of publishing a release, and how it is published.

Nothing here knows a host: sbt knows Maven Central and twine knows PyPI, each with the credentials
that its own environment variables or files give.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

PYPROJECT = Path("python", "pyproject.toml")
CHANGELOG = Path("CHANGELOG.md")

# Up to the next table; sbt has the same in project/Publishing.scala.
REPOSITORY = re.compile(
    r'(?ms)^\[project\.urls\]$(?:(?!^\[).)*?^Repository\s*=\s*"(https://[^"]+)"'
)
_SECTION = re.compile(r"^## (?P<version>\S+)(?: \((?P<date>\d{4}-\d\d-\d\d)\))?$", re.MULTILINE)


def repository_url(root: Path) -> str | None:
    """Return the address of the sources, which is set in python/pyproject.toml and nowhere else.

    None for none, and for one that is not of https.
    """
    found = REPOSITORY.search((root / PYPROJECT).read_text())
    return found and found[1]


def changelog_date(root: Path, version: str) -> str | None:
    """Return the date that the changelog has of a version, None where it has none."""
    sections = _SECTION.finditer((root / CHANGELOG).read_text())
    return next((section["date"] for section in sections if section["version"] == version), None)


def hindrances(root: Path, version: str, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield what has to be done before a version can be published, in sentences.

    Args:
        root: the project's folder.
        version: the version.
        variables: the environment variables.
    """
    if not repository_url(root):
        yield (
            f"{PYPROJECT} does not say where the sources are: give it a table [project.urls] with "
            "their https address as Repository, from which wheel, POM and documentation take it."
        )
    if not changelog_date(root, version):
        yield f"{CHANGELOG} has no date for {version}: head its section ## {version} (YYYY-MM-DD)."
    if _git(root, "status", "--porcelain"):
        yield "Some files are not committed: commit them."
    if f"v{version}" not in _git(root, "tag", "--points-at", "HEAD").split():
        yield f"The commit has no tag v{version}: git tag v{version}."
    if not shutil.which("gpg") or not _secret_keys(variables):
        yield "There is no key to sign with: give gpg a secret key."
    for name in ("SONATYPE_USERNAME", "SONATYPE_PASSWORD"):
        if not variables.get(name):
            yield f"{name} is not set, which sbt publishes to Maven Central with."
    if not variables.get("TWINE_PASSWORD") and not (Path.home() / ".pypirc").is_file():
        yield "TWINE_PASSWORD is not set, which twine publishes to PyPI with."


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=root, check=False, capture_output=True, text=True
    )
    return done.stdout.strip()


def _secret_keys(variables: Mapping[str, str]) -> str:
    command = ["gpg", "--list-secret-keys", "--with-colons"]
    env = {**os.environ, **variables}
    return subprocess.run(command, check=False, capture_output=True, text=True, env=env).stdout

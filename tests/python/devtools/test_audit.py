"""`./dev audit`, with a pip-audit that says what it is told to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devtools.audit import NothingAuditedError, advisories, ask, requirements
from harness import ROOT

SOUND = {"name": "click", "version": "8.1", "vulns": []}
HIT = {"name": "numpy", "version": "1.0", "vulns": [{"id": "X-1", "fix_versions": ["1.1"]}]}


def pip_audit(folder: Path, answer: object, *, code: int = 0, says: str = "") -> Path:
    """Make a program that writes the answer to its last argument."""
    program = folder / "pip-audit"
    text = "" if answer is None else json.dumps(answer)
    write = f"printf %s '{text}' > \"${{!#}}\"\n" if answer is not None else ""
    program.write_text(f"#!/bin/bash\n{write}echo '{says}' >&2\nexit {code}\n")
    program.chmod(0o755)
    return program


def test_everything_is_asked_about_that_a_user_installs() -> None:
    found = requirements((ROOT / "python" / "pyproject.toml").read_text())
    names = {each.partition(">")[0] for each in found}
    assert {"click", "fsspec", "google-crc32c", "numpy", "pyarrow", "rich", "xxhash"} <= names
    assert {"jinja2", "matplotlib"} <= names
    assert not {each for each in names if each.startswith("pyspark")}


def test_an_advisory_is_told_with_the_version_that_mends_it(tmp_path: Path) -> None:
    program = pip_audit(tmp_path, {"dependencies": [SOUND, HIT]}, code=1)
    found = ask(program, tmp_path / "asked", tmp_path / "answer")
    assert list(advisories(found)) == ["numpy 1.0: X-1, mended in 1.1"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "Could not connect to the service"),
        ({"dependencies": []}, "no answer about any package"),
        ({"dependencies": [{"name": "rich", "skip_reason": "gone"}]}, "no answer about rich"),
        ({}, "Could not connect to the service"),
    ],
)
def test_that_nothing_was_audited_is_said_and_no_success(
    answer: object, reason: str, tmp_path: Path
) -> None:
    program = pip_audit(tmp_path, answer, code=1, says="Could not connect to the service")
    with pytest.raises(NothingAuditedError, match=f"nothing was audited.*{reason}"):
        ask(program, tmp_path / "asked", tmp_path / "answer")


def test_an_answer_of_an_earlier_time_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text(json.dumps({"dependencies": [SOUND]}))
    with pytest.raises(NothingAuditedError):
        ask(pip_audit(tmp_path, None, code=1), tmp_path / "asked", tmp_path / "answer")

"""Programs that stand for others of a machine: shell scripts."""

from __future__ import annotations

import os
from pathlib import Path


def program(path: Path, script: str) -> Path:
    """Write a program that is a shell script."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def java_home(folder: Path, script: str) -> Path:
    """Make a Java installation whose `java` is a shell script."""
    program(folder / "bin" / "java", script)
    return folder


def hanging(folder: Path) -> str:
    """Return a line of a script that waits for what never comes."""
    nobody_writes = folder / "nobody-writes"
    os.mkfifo(nobody_writes)
    return f"read -r answer < {nobody_writes}"

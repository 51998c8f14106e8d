"""What the commands say that run one history after the other, and where each of these is."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path


def say(sentence: str) -> None:
    """Write a line, at once."""
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


def counts(counted: Counter[str]) -> str:
    """Return what happened how often, in words."""
    return ", ".join(f"{count} {what}" for what, count in sorted(counted.items()))


def new_folder(folder: Path) -> Path:
    """Make a folder, in the place of one that is there; return it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder

"""The seeds of what is drawn at random."""

from __future__ import annotations

import argparse
import secrets


def seed(arguments: argparse.Namespace) -> int:
    """Return the seed that was asked for, or a new one."""
    return secrets.randbelow(2**32) if arguments.seed is None else int(arguments.seed)

"""The names of the schema files of `transformWithState`, which metadata gives with their place."""

from __future__ import annotations

import re

SCHEMA = re.compile(r"(?P<root>.*)/(?P<name>state/\d+/_stateSchema/.*)")


def schema_name(file: str) -> str | None:
    """Return the path of a schema file below its checkpoint; None for what is no such path."""
    found = SCHEMA.fullmatch(file)
    return found and found["name"]

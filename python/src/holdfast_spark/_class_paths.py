"""The jars that class paths and lists of jars stand for on this machine."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from holdfast_spark._setting_names import names

_SIGNS = "*?[{"


def class_path(value: str | None) -> list[str]:
    """Return the entries of a class path, the jars in a folder for one that is `folder/*`.

    As in Java. One whose folder has no jars here stays as it is.
    """
    return [
        found
        for entry in (value or "").split(os.pathsep)
        for found in _in_folder(entry) or (entry,)
    ]


def jar_list(value: str | None) -> list[str]:
    """Return the jars of a list, those that fit for one that is a pattern.

    As in Spark (`DependencyUtils.resolveGlobPaths` of 4.3). One that nothing fits stays as it is,
    and so does one of another file system.
    """
    return [found for name in names(value) for found in _fitting(name) or (name,)]


def has_pattern(name: str) -> bool:
    """Tell whether a jar is named by a pattern."""
    return any(sign in name for sign in _SIGNS)


def local_path(jar: str) -> str:
    """Return a jar as Spark would find it on this machine, whether its name is a path or a URL.

    With `local:` it is at that path on every machine.
    """
    return re.sub(r"^(file|local):(//(?=/))?", "", jar)


def _in_folder(entry: str) -> Sequence[str]:
    if Path(entry).name != "*":
        return ()
    return [name for name in _fitting(entry) if Path(name).suffix in (".jar", ".JAR")]


def _fitting(pattern: str) -> Sequence[str]:
    place = local_path(pattern)
    # What is `local:` Spark takes as it stands.
    if pattern.startswith("local:") or ":" in place or not has_pattern(place):
        return ()
    return sorted(glob.glob(place))  # noqa: PTH207 - in which `**` is no more than `*`

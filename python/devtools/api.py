"""Writes docs/api.md from the docstrings: `python -m devtools.api > ../docs/api.md`, in `python`.

What a module names in `__all__` is public, and of one that has none, what it defines itself. A test
compares the page with what this writes.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

MODULES = (
    "holdfast_spark",
    *("holdfast_spark.metrics", "holdfast_spark.doctor", "holdfast_spark.checkpoint"),
    *("holdfast_spark.capacity", "holdfast_spark.report", "holdfast_spark.errors"),
)
_HEAD = """\
# Python functions

What the package offers to programs; `help()` of each says the same. Names that begin with an
underscore, and modules that are not here, may change at any time.

This page is written by `python -m devtools.api > ../docs/api.md`, in the folder `python`.
"""
_SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises")
_SECTION = re.compile(rf"^({'|'.join(_SECTIONS)}):$\n((?:^(?:    .*)?$\n?)+)", re.MULTILINE)
_ENTRY = re.compile(r"^    (\S[^:\n]*): (.*(?:\n        .*)*)", re.MULTILINE)
_WIDTH = 88


class _Written(str):
    """What a signature shows as it is, where it would put a string in quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def reference() -> str:
    """Return the page, as Markdown."""
    modules = [importlib.import_module(name) for name in MODULES]
    return "\n".join([_HEAD, *(line for module in modules for line in _module(module))])


def _module(module: ModuleType) -> Iterator[str]:
    yield from (f"## {module.__name__}", "", _text(module), "")
    for name in _public(module):
        thing = getattr(module, name)
        if inspect.isclass(thing):
            yield from _class(name, thing)
        elif inspect.isfunction(thing):
            yield from _function("###", name, thing)


def _public(module: ModuleType) -> list[str]:
    own = [
        name
        for name, thing in vars(module).items()
        if getattr(thing, "__module__", None) == module.__name__ and not name.startswith("_")
    ]
    return sorted(getattr(module, "__all__", own), key=str.lower)


def _class(name: str, thing: type) -> Iterator[str]:
    yield from (f"### {name}", "", _text(thing), "")
    for member, value in vars(thing).items():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if member.startswith("_"):
            continue
        if isinstance(value, property):
            yield from (f"#### {name}.{member}", "", _text(value), "")
        elif inspect.isfunction(function):
            yield from _function("####", f"{name}.{member}", getattr(thing, member))


def _function(heading: str, name: str, function: Callable[..., object]) -> Iterator[str]:
    yield from (f"{heading} {name}", "", "```python", _signature(name, function), "```", "")
    yield from (_text(function), "")


def _signature(name: str, function: Callable[..., object]) -> str:
    plain = inspect.signature(function)
    parameters = [
        each.replace(
            annotation=_Written(each.annotation)
            if isinstance(each.annotation, str)
            else each.annotation,
            default=_Written("...") if inspect.isfunction(each.default) else each.default,
        )
        for each in plain.parameters.values()
        if each.name != "self"
    ]
    returned = plain.return_annotation
    arrow = f" -> {returned}" if isinstance(returned, str) else ""
    whole = f"{name}{inspect.Signature(parameters)}{arrow}"
    if len(whole) <= _WIDTH:
        return whole
    lines: list[str] = []
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and "*" not in lines and not _starred(lines):
            lines.append("*")
        lines.append(str(each))
    return "\n".join([f"{name}(", *(f"    {line}," for line in lines), f"){arrow}"])


def _starred(lines: list[str]) -> bool:
    return any(line.startswith("*") for line in lines)


def _text(thing: object) -> str:
    """Return a docstring, its sections as lists."""
    types = {}
    if dataclasses.is_dataclass(thing):
        types = {field.name: str(field.type) for field in dataclasses.fields(thing)}

    def section(found: re.Match[str]) -> str:
        entries = _ENTRY.findall(found[2])
        if not entries or found[1] in ("Returns", "Yields"):
            return f"**{found[1]}:** {' '.join(found[2].split())}\n\n"
        listed = [
            f"- `{what}`{f' ({types[what]})' if what in types else ''}: {' '.join(said.split())}"
            for what, said in entries
        ]
        return "\n".join([f"**{found[1]}:**", "", *listed, "", ""])

    return _SECTION.sub(section, (inspect.getdoc(thing) or "") + "\n").strip()


if __name__ == "__main__":
    sys.stdout.write(reference())

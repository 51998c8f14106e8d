"""Writes what docs/commands.md says: `python -m holdfast_spark.cli.reference > docs/commands.md`.

Everything in it comes from the commands themselves, and what `--json` prints from the docstrings of
the dataclasses that are printed.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any, get_args, get_type_hints

import click

from holdfast_spark.cli.checkpoint_command import CheckpointCommand
from holdfast_spark.cli.main import main

_INTRODUCTION = """\
# Commands

Errors go to standard error as one sentence. The exit code is 0 for success, 1 for failure, 2 for
wrong usage. `holdfast --verbose COMMAND` shows the traceback of an error.

This page is written by `python -m holdfast_spark.cli.reference > docs/commands.md`.
"""
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n        .*)*)", re.MULTILINE)


def reference() -> str:
    """Return the reference as Markdown."""
    return "\n".join([_INTRODUCTION, *(_section(main.commands[name]) for name in main.commands)])


def _section(command: click.Command) -> str:
    context = click.Context(command, info_name=f"holdfast {command.name}")
    lines = [f"## holdfast {command.name}", "", "```", _usage(command, context), "```", ""]
    lines += [dedent(" " * 4 + (command.help or "")).strip(), ""]
    options = [option for option in command.params if isinstance(option, click.Option)]
    records = [record for each in options if (record := each.get_help_record(context))]
    lines += ["| option | |", "|---|---|"]
    lines += [f"| `{_cell(names)}` | {_cell(text)} |" for names, text in records]
    lines.append("")
    if isinstance(command, CheckpointCommand) and command.result:
        module, _, name = command.result.partition(":")
        lines += ["With `--json`:", "", *_fields(getattr(importlib.import_module(module), name))]
        lines.append("")
    return "\n".join(lines)


def _usage(command: click.Command, context: click.Context) -> str:
    return " ".join([f"holdfast {command.name}", *command.collect_usage_pieces(context)])


def _fields(result: Any, indent: str = "") -> Iterator[str]:  # noqa: ANN401 - a dataclass
    """Yield a list entry for each field, and below it one for each field of what it holds."""
    about = dict(_ATTRIBUTE.findall(inspect.getdoc(result) or ""))
    hints = get_type_hints(result)
    for field in dataclasses.fields(result):
        text = " ".join(about[field.name].split())
        yield f"{indent}- `{field.name}`: {text}"
        for part in get_args(hints[field.name]):
            if dataclasses.is_dataclass(part):
                yield from _fields(part, f"{indent}  ")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    click.echo(reference(), nl=False)

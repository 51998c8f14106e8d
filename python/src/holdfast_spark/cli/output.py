"""How a command's result is printed: as text for people, as JSON for programs."""

import json
from collections.abc import Mapping

import click


def print_result(result: Mapping[str, object], *, text: str, as_json: bool) -> None:
    """Print a command's result to standard output.

    Args:
        result: the data of the result, of types that JSON has.
        text: the same for a person.
        as_json: print `result` as one JSON object instead of `text`.
    """
    click.echo(json.dumps(result) if as_json else text)

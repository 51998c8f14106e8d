"""How a command's result is printed: as text for people, as JSON for programs."""

import codecs
import io
import json
import sys
from collections.abc import Mapping

import click

_ESCAPED = "holdfast_escaped"


def escape_what_is_not_encoded() -> None:
    """Let standard output have escapes of JSON for what its encoding lacks.

    Else a command would end where such a character comes, as of a key on a terminal of cp1252.
    """
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper) and out.errors == "strict":
        codecs.register_error(_ESCAPED, _escaped)
        out.reconfigure(errors=_ESCAPED)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def print_result(result: Mapping[str, object], *, text: str, as_json: bool) -> None:
    """Print a command's result to standard output.

    Args:
        result: the data of the result, of types that JSON has.
        text: the same for a person.
        as_json: print `result` as one JSON object instead of `text`.
    """
    click.echo(json.dumps(result) if as_json else text)

"""JSON of a checkpoint, which may be anything."""

from __future__ import annotations

import json
import reprlib
from typing import Any, NoReturn

from holdfast_spark._text import cause_text
from holdfast_spark.checkpoint.errors import MalformedFileError


def parsed_json(text: str) -> Any:  # noqa: ANN401 - it is JSON
    """Parse JSON as Java does, without the numbers that are none.

    Raises:
        ValueError: it is none, or nested more deeply than anybody writes it.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError as e:
        raise ValueError("brackets in brackets, hundreds deep") from e


def json_or_none(text: str) -> Any:  # noqa: ANN401 - it is JSON
    """Parse JSON as `parsed_json` does; return None where it is none."""
    try:
        return parsed_json(text)
    except ValueError:
        return None


def parse_json_object(text: str, *, path: str) -> dict[str, Any]:
    """Parse what has to be a JSON object.

    Raises:
        MalformedFileError: it is none.
    """
    try:
        value = parsed_json(text)
    except ValueError as e:
        found = no_json(text, e)
        raise MalformedFileError(path=path, expected="a JSON object", found=found) from e
    if not isinstance(value, dict):
        raise MalformedFileError(path=path, expected="a JSON object", found=short(value))
    return value


def utf8_text(content: bytes, *, path: str) -> str:
    """Return the text of a file that is written again, so that no byte of it may be lost.

    Raises:
        MalformedFileError: it is not UTF-8.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as e:
        raise MalformedFileError(path=path, expected="text", found=no_text(e)) from e


def no_json(text: str, error: ValueError) -> str:
    """Return what there is in the place of JSON that could not be parsed."""
    if not text.strip():
        return "nothing"
    if isinstance(error, json.JSONDecodeError):
        return f"what is no JSON from its character {error.pos + 1} on"
    return cause_text(error)


def no_text(error: UnicodeDecodeError) -> str:
    """Return what there is in the place of text that could not be decoded."""
    return f"what is no UTF-8 from its byte {error.start + 1} on"


def short(value: object, size: int = 60) -> str:
    """Return what a value looks like, whatever its size and depth; dots where it is cut off."""
    text = reprlib.repr(value)
    return text if len(text) <= size else f"{text[:size].rstrip()} ..."


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"the number {constant}")

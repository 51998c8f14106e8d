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


def parse_json_object(text: str, *, path: str) -> dict[str, Any]:
    """Parse what has to be a JSON object.

    Raises:
        MalformedFileError: it is none.
    """
    try:
        value = parsed_json(text)
    except ValueError as e:
        raise MalformedFileError(path=path, expected="a JSON object", found=cause_text(e)) from e
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
        raise MalformedFileError(path=path, expected="text", found=cause_text(e)) from e


def short(value: object, size: int = 60) -> str:
    """Return what a value looks like, whatever its size and depth; dots where it is cut off."""
    text = reprlib.repr(value)
    return text if len(text) <= size else f"{text[:size].rstrip()} ..."


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"the number {constant}")

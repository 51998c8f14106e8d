"""Whether a public function was given what it takes, so that a slip is a sentence that names it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from numbers import Integral, Real
from typing import NamedTuple, TypeGuard

from holdfast_spark.errors import WrongArgumentError

# More than there is of anything: what is calculated from such numbers is finite.
MOST = 1e18


class Kind(NamedTuple):
    """What an argument may be.

    Attributes:
        words: what it is called in a sentence.
        fits: tells whether something is one.
    """

    words: str
    fits: Callable[[object], bool]


def require_arguments(function: str, **given: tuple[object, Kind]) -> None:
    """Check the arguments of a function.

    Args:
        function: its name, such as `checkpoint.diff`.
        given: each argument and what it may be, by its name.

    Raises:
        WrongArgumentError: one is something else.
    """
    for name, (found, kind) in given.items():
        if not kind.fits(found):
            raise WrongArgumentError(
                function=function, expected=f"{kind.words} as {name}", found=found
            )


def instance(words: str, *types: type) -> Kind:
    """Return the kind of the objects of some classes."""
    return Kind(words, lambda found: isinstance(found, types))


def or_none(kind: Kind) -> Kind:
    """Return a kind that may be left out."""
    return Kind(f"{kind.words}, or None,", lambda found: found is None or kind.fits(found))


def whole(least: int | None = None) -> Kind:
    """Return the kind of whole numbers, from the least one on if there is one."""
    words = "a whole number" if least is None else f"a whole number of {least} or more"
    return Kind(words, lambda found: _is_whole(found) and (least is None or found >= least))


def above_zero(most: float = MOST) -> Kind:
    """Return the kind of numbers above 0, up to the largest one."""
    words = f"a number above 0, up to {most:g},"
    return Kind(words, lambda found: _is_number(found) and 0 < found <= most)


def _is_whole(found: object) -> TypeGuard[int]:
    return isinstance(found, Integral) and not isinstance(found, bool)


def _is_number(found: object) -> TypeGuard[float]:
    return isinstance(found, Real) and not isinstance(found, bool)


def _are_texts(found: object) -> bool:
    return isinstance(found, str) or (
        isinstance(found, Sequence) and all(isinstance(each, str) for each in found)
    )


def _are_lengths(found: object) -> bool:
    return isinstance(found, Mapping) and all(
        isinstance(name, str) and NUMBER.fits(length) for name, length in found.items()
    )


FLAG = instance("True or False", bool)
TEXT = instance("a str", str)
TEXTS = Kind("a list of str", _are_texts)
PATH = instance("a path or a URL", str, os.PathLike)
OPTIONS = or_none(instance("a mapping", Mapping))
FUNCTION = Kind("a function", callable)
COUNT = whole(0)
NUMBER = Kind(
    f"a number of 0 or more, up to {MOST:g},",
    lambda found: _is_number(found) and 0 <= found <= MOST,
)
LENGTHS = Kind(f"a mapping from names to numbers of 0 or more, up to {MOST:g},", _are_lengths)
DURATION = Kind(
    "a timedelta of 0 or more",
    lambda found: isinstance(found, timedelta) and found >= timedelta(0),
)

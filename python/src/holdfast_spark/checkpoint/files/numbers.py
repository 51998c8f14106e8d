"""Numbers in names and settings, which may be any digits, and gaps between them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

LARGEST_INT, LARGEST_LONG = (1 << 31) - 1, (1 << 63) - 1
_LONGEST = 19


def whole_number(text: object, most: int = LARGEST_LONG) -> int | None:
    """Return the number that digits are; None for anything else, and for more than `most`.

    Args:
        text: a text, such as the name of a file; anything else is no number.
        most: what Java's type can hold.
    """
    if not isinstance(text, str) or not (text.isascii() and text.isdecimal()):
        return None
    digits = text.lstrip("0") or "0"
    if len(digits) > _LONGEST or (number := int(digits)) > most:
        return None
    return number


def is_long(value: object) -> bool:
    """Tell whether a value of JSON is a whole number that Java's long can hold."""
    return type(value) is int and -LARGEST_LONG <= value <= LARGEST_LONG


def gaps(numbers: Iterable[int], first: int, last: int) -> list[range]:
    """Return what is not there of `first` to `last`, however much that is."""
    inside = sorted(number for number in set(numbers) if first <= number <= last)
    bounds = pairwise([first - 1, *inside, last + 1])
    return [range(before + 1, after) for before, after in bounds if after - before > 1]


def ranges_text(ranges: Iterable[range]) -> str:
    """Return ascending ranges as a text such as `3-7, 9`."""
    return ", ".join(f"{r[0]}" if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in ranges)

"""How much of a heap state may take."""

from __future__ import annotations

import re

from holdfast_spark._jars import is_before
from holdfast_spark._setting_names import MEMORY_LIMIT
from holdfast_spark._text import size_text
from holdfast_spark.errors import HoldfastError, TooSmallLimitError, WrongSettingError

# The default of `spark.sql.streaming.stateStore.holdfast.memoryLimit` (docs/settings.md): a batch
# that would take more fails. It comes before an OutOfMemoryError, as measured (jvm/DESIGN.md).
SHARE_OF_HEAP = 0.5

# With more than this memory may end first: from 80 % on it did, as measured (jvm/DESIGN.md).
NEARLY_ALL_OF_HEAP = 0.8

# The smallest limit in bytes that can be meant (`HoldfastConf`); a share of the heap may be less.
LEAST_LIMIT = 1 << 20

# Sizes as Spark reads them (`JavaUtils.byteStringAs` of Spark 4.3), those with an i since 4.2.
_SIZE = re.compile(r"(\d+)(b|([kmgtp])(i?)b?)?", re.ASCII)
_FIRST_WITH_I = "4.2"
_UNITS = {None: 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_SHARE = re.compile(r"\s*(\d{1,3})\s*%\s*", re.ASCII)
_WHOLE = 100
# Of which each share is something.
_ANY_HEAP = 1 << 30
# So many digits may be a share of the heap.
_DIGITS_OF_SHARE = 2


def bytes_of(text: str, *, default_unit: int = 0) -> int | None:
    """Return the bytes that a size stands for, None where it is none.

    Args:
        text: the size, as Spark takes it.
        default_unit: the power of two that is meant where there is no unit.
    """
    found = _SIZE.fullmatch(text.strip().lower())
    if not found:
        return None
    return int(found[1]) << (_UNITS[found[3]] if found[2] else default_unit)


def limit_of(text: str, *, heap: int) -> int | None:
    """Return the bytes that a limit stands for, None where it means nothing.

    Args:
        text: bytes, or a share of the heap.
        heap: bytes of the heap.
    """
    if share := _SHARE.fullmatch(text):
        return heap * int(share[1]) // _WHOLE if 0 < int(share[1]) <= _WHOLE else None
    return bytes_of(text) or None


def limit_error(text: str, *, line: str) -> HoldfastError | None:
    """Return why a limit cannot be meant, None where it can, whatever the heap is.

    It means nothing, or is so small that its unit must have been forgotten.

    Args:
        text: bytes, or a share of the heap.
        line: the Spark line, on which it depends which units there are.
    """
    if (shorter := _in_older_unit(text)) and is_before(line, _FIRST_WITH_I):
        return WrongSettingError(
            setting=MEMORY_LIMIT,
            found=text,
            expected=f"{shorter}, as Spark reads units such as GiB since {_FIRST_WITH_I} and this "
            f"is Spark {line}",
        )
    if limit_of(text, heap=_ANY_HEAP) is None:
        return WrongSettingError(
            setting=MEMORY_LIMIT,
            found=text,
            expected="bytes such as 8g, or a share of the heap from 1% to 100%",
        )
    size, number = bytes_of(text), text.strip()
    if size is None or size >= LEAST_LIMIT:
        return None
    meant = [f"{number}g", f"{number}m"] if number.isdecimal() else []
    if meant and len(number) <= _DIGITS_OF_SHARE:
        meant.append(f"{number}%")
    return TooSmallLimitError(
        setting=MEMORY_LIMIT,
        found=text,
        size=size_text(size),
        least=size_text(LEAST_LIMIT),
        meant=meant,
    )


def _in_older_unit(text: str) -> str | None:
    """Return a size as every Spark reads it, None for one that is no size or is so already."""
    found = _SIZE.fullmatch(text.strip().lower())
    return f"{found[1]}{found[3]}" if found and found[4] else None

"""Numbers, names and what other libraries say, as people read them."""

import re
import reprlib
from collections.abc import Sequence

_NAME = re.compile(r"[\w.$-]{1,200}")


def size_text(size: int) -> str:
    """Return a size for people."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:  # noqa: PLR2004 - the next unit
            break
        amount, unit = amount / 1024, larger
    return f"{amount:,.0f} {unit}" if unit == "B" else f"{amount:,.1f} {unit}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with what is counted behind it, such as `1 file` or `2,000 files`.

    Args:
        count: the number.
        one: what is counted, where it is one; a verb may follow, as in `file is`.
        many: the same where it is not; with an s at its end for None.
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def batches_text(batches: Sequence[int]) -> str:
    """Return which batches there are, by the first and the last one, such as `batches 0 to 3`."""
    first, last = batches[0], batches[-1]
    return f"batch {first}" if first == last else f"batches {first} to {last}"


def named(text: str) -> str:
    """Return a name as it is, or what is none in quotes, and cut off where it is long."""
    return text if _NAME.fullmatch(text) else reprlib.repr(text)


def options_text(*names: str) -> str:
    """Return options of a command and the parameters of its function, for advice to both's users.

    Args:
        names: the parameters; the options are called like them.
    """
    options = " and ".join(f"--{name.replace('_', '-')}" for name in names)
    return f"{options} ({' and '.join(names)} in Python)"


def without_advice(error: str, *, path: str) -> tuple[str, str]:
    """Return the first sentence of an error, which says what is wrong, and the rest: what to do.

    Args:
        error: the text of an error.
        path: the file that it is about, whose name may have dots.
    """
    before, name, behind = error.partition(path)
    finding, stop, advice = behind.partition(". ")
    return f"{before}{name}{finding}{stop.strip()}", advice


def cause_text(error: BaseException) -> str:
    """Return what another library's error says, to be put into a sentence of ours.

    That is its first line without the full stop that some end with, or its class if it says
    nothing; of an error of the operating system what is wrong, without number and path.
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.rstrip(".")
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(" .:") if lines else type(error).__name__

"""What can go wrong in the demo, each as one sentence for the person who ran it."""

from __future__ import annotations

from holdfast.errors import HoldfastError


class DemoError(HoldfastError):
    """The demo could not run to its end, or its result is wrong (exit code 1)."""


class DemoUsageError(DemoError):
    """An argument of the demo cannot be used as given (exit code 2)."""


def first_sentence(error: BaseException, *, limit: int = 300) -> str:
    """The first line of an error's message, cut after `limit` characters.

    Spark's messages go on for screens (plans, Java stack traces); their first line says what is
    wrong and the log of the process has the rest.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if len(text) <= limit else text[: limit - 3] + "..."

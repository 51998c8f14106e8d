"""What can go wrong in the demo, each as one sentence for the person who ran it."""

from __future__ import annotations

import re

from holdfast_spark.errors import HoldfastError

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


class DemoError(HoldfastError):
    """The demo could not run to its end, or its result is wrong (exit code 1).

    Args:
        sentence: what is wrong; it gets the full stop that it lacks.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(f"{sentence.rstrip('.')}.")


class DemoUsageError(DemoError):
    """An argument of the demo cannot be used as given (exit code 2)."""


def first_sentence(error: BaseException, *, limit: int = 300) -> str:
    """Return the first sentence of an error's message, cut after `limit` characters.

    Spark's messages go on for screens (advice, plans, Java stack traces); their first sentence
    says what is wrong and the log of the process has the rest.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = _SENTENCE_END.split(lines[0])[0] if lines else type(error).__name__
    # Spark 3.5 ends what it says of a plan with `.;`, and the plan behind it.
    text = text.removesuffix(";")
    return text if len(text) <= limit else text[: limit - 3] + "..."

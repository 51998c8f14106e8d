"""Whether the start of a rate source, `sources/<n>/0`, fits the offsets.

The file has `v1` and the milliseconds at which the source began; an offset counts the seconds since
then (`RateStreamMicroBatchStream`, Spark 4.3). Sources with numbers for offsets and no such folder,
as those in memory, keep nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.source_offsets import parsed
from holdfast_spark.checkpoint.checks.subject import Subject

_START = re.compile(r"v1\n(\d{1,18})")
# Between the moment that an offset is of and the one that Spark writes down for its batch.
_SLACK_SECONDS = 30


def check_rate_sources(subject: Subject) -> Iterator[Problem]:
    """Yield starts that cannot be read, or lie elsewhere than the offsets say."""
    newest = subject.named.planned[-1]
    entry = subject.readable_offsets.get(newest)
    for place, text in enumerate(entry.sources.values() if entry else ()):
        name = f"sources/{place}/0"
        if name not in subject.entries or not isinstance(parsed(text), int) or entry is None:
            continue
        file = subject.location / "sources" / place / 0
        content = file.read_text()
        start = _START.fullmatch(content.strip())
        seconds = (entry.timestamp_ms - int(start[1])) / 1000 if start else -_SLACK_SECONDS
        if abs(seconds - int(text)) > _SLACK_SECONDS:
            yield Problem(
                location=file,
                kind="source",
                error=f"{file} is damaged: expected v1 and the milliseconds at which the source "
                f"began, {text} seconds before batch {newest}, found {content[:40]!r}. Restore the "
                "file from a copy.",
                stops=True,
            )

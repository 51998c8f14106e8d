"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from holdfast_spark.checkpoint.files.location import Location

Kind = Literal["state file", "state", "metadata", "log", "source", "checksum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in a checkpoint that is broken, gone, or not what belongs there.

    Attributes:
        location: the file, or the folder in which something is missing.
        kind: what it belongs to: `state file` is one whose content is damaged.
        error: what is wrong and what to do, in sentences.
        stops: whether the query stops there or goes on with what is not right; None where that is
            so if the query reads the file when it starts.
    """

    location: Location
    kind: Kind
    error: str
    stops: bool | None = None

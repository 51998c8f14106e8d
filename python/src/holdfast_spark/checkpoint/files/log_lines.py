"""A file of `offsets/` or `commits/` as the lines that it has.

    | version, such as v1 | JSON, or nothing | a line for each source, in offsets/ alone |

Lines end as those of Java do, and the file as its last line does (Spark's `OffsetSeqLog` and
`CommitLog`, 4.3).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.json_values import parse_json_object, utf8_text
from holdfast_spark.checkpoint.files.location import Location

_END = re.compile("\r\n|\n|\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLines:
    """The lines of such a file; immutable.

    Attributes:
        path: the file, for errors.
        version: the first line.
        json: the second line; None where there is none.
        sources: the other lines.
    """

    path: str
    version: str
    json: str | None
    sources: tuple[str, ...] = ()

    @classmethod
    def read(cls, file: Location, *, versions: Sequence[str] = ()) -> LogLines:
        """Read a file.

        Args:
            file: the file.
            versions: those that it may have; any without them.

        Raises:
            MalformedFileError: it does not begin with a version, or is not UTF-8.
            UnreadablePathError: the file system refuses it.
        """
        lines = _END.split(utf8_text(file.read_bytes(), path=str(file)))
        if not lines[-1]:
            lines.pop()
        version, *rest = lines or [""]
        if versions and version not in versions:
            expected = f"the version {' or '.join(versions)} in the first line"
            found = f"{version[:60]!r}" if lines else "nothing"
            raise MalformedFileError(path=str(file), expected=expected, found=found)
        if not version.startswith("v"):
            raise _incomplete(str(file), lines)
        return cls(
            path=str(file),
            version=version,
            json=rest[0] if rest else None,
            sources=tuple(rest[1:]),
        )

    def metadata(self) -> dict[str, Any]:
        """Return what the JSON says; nothing where the line is empty, as Spark 2.0 wrote it.

        Raises:
            MalformedFileError: there is no second line, or no JSON object on it.
        """
        if self.json is None:
            raise _incomplete(self.path, [self.version])
        return parse_json_object(self.json.strip() or "{}", path=self.path)

    def saying(self, metadata: Mapping[str, Any], *, version: str | None = None) -> LogLines:
        """Return such lines with other JSON and, if one is given, another version."""
        text = json.dumps(metadata, separators=(",", ":"), ensure_ascii=False)
        return replace(self, version=version or self.version, json=text)

    def content(self) -> bytes:
        """Return the content of the file."""
        text = () if self.json is None else (self.json,)
        return "\n".join((self.version, *text, *self.sources)).encode()


def _incomplete(path: str, lines: list[str]) -> MalformedFileError:
    return MalformedFileError(
        path=path,
        expected="a line with a version such as v1 and a line of JSON",
        found=f"{counted(len(lines), 'line')}, first {lines[0][:20]!r}"
        if any(lines)
        else "nothing",
    )

"""Whether the schema files of stores say what Spark reads (`DataType.fromJson`, 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError, MalformedFileError
from holdfast_spark.checkpoint.files.json_values import parsed_json, short
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.schema_file import read_schema_file

_FIELD: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "type": (str, dict),
    "nullable": bool,
    "metadata": dict,
}
_CHECKSUMS = "/_metadata/.schema.crc"
_KEYS = {
    "struct": {"type", "fields"},
    "array": {"type", "elementType", "containsNull"},
    "map": {"type", "keyType", "valueType", "valueContainsNull"},
}


def check_schemas(subject: Subject) -> Iterator[Problem]:
    """Yield schema files that Spark does not read."""
    for name in subject.entries:
        if not name.startswith("state/"):
            continue
        if name.endswith("/_metadata/schema") or (
            "/_stateSchema/" in name and not name.endswith(".crc")
        ):
            file = subject.location / name
            try:
                _check(file)
            except CheckpointError as error:
                yield Problem(location=file, kind="metadata", error=str(error))
    yield from _with_checksums_alone(subject)


def _with_checksums_alone(subject: Subject) -> Iterator[Problem]:
    """Yield the schemas that are gone and whose checksums are not: Spark cannot write them anew.

    Hadoop does not rename a file to a place that has checksums (`ChecksumFs`, 3.5).
    """
    for name in subject.entries:
        schema = f"{name.removesuffix(_CHECKSUMS)}/_metadata/schema"
        if name.endswith(_CHECKSUMS) and subject.location.is_local:
            file = subject.location / schema
            if schema not in subject.entries:
                yield Problem(
                    location=file,
                    kind="metadata",
                    error=f"{file} is gone: expected the schema of the store, found its checksums "
                    "alone, beside which Spark cannot write it anew: it refuses to start. Restore "
                    f"the file from a copy, or delete {subject.location / name}.",
                    stops=True,
                )


def _check(file: Location) -> None:
    for family in read_schema_file(file).column_families.values():
        for text in (family.key_json, family.value_json):
            _require_type(parsed_json(text), file)


def _require_type(value: Any, file: Location) -> None:  # noqa: ANN401 - it is JSON
    if isinstance(value, str):
        return
    keys = _KEYS.get(value.get("type"))
    if keys is not None and value.keys() != keys:
        raise _malformed(file, f"a type with {', '.join(sorted(keys))}", value)
    for field in value["fields"] if value.get("type") == "struct" else ():
        wrong = [name for name, kind in _FIELD.items() if not isinstance(field.get(name), kind)]
        if wrong or field.keys() != _FIELD.keys():
            raise _malformed(file, f"a field with {', '.join(_FIELD)}", field)
        _require_type(field["type"], file)
    for name in ("elementType", "keyType", "valueType", "sqlType"):
        if name in value:
            _require_type(value[name], file)


def _malformed(file: Location, expected: str, found: object) -> MalformedFileError:
    return MalformedFileError(path=str(file), expected=expected, found=short(found, 120))

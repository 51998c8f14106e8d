"""The stateful operators of a query, from the metadata that Spark keeps beside their state.

Version 1 is the file `state/<operator>/_metadata/metadata`, version 2 the files
`state/<operator>/_metadata/v2/<batch>`, of which the newest not after a batch tells about it: `v1`
or `v2` on the first line, JSON behind it (Spark's `OperatorStateMetadata`, 4.0 to 4.3).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.json_values import parse_json_object
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import batch_ids
from holdfast_spark.checkpoint.files.numbers import LARGEST_INT

UNKNOWN_OPERATOR = "unknown"

# Folders below an operator's, or a store's, that describe its state and hold none of it.
DESCRIPTIONS = frozenset(("_metadata", "_stateSchema"))

SCHEMA_FILE = re.compile(r"(?P<root>.*)/(?P<name>state/\d+/_stateSchema/.*)")
"""Of `StoreMetadata.schema_files`: the checkpoint that a file is of, and its path below that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMetadata:
    """What the operator's metadata says about one kind of its stores.

    Attributes:
        name: name of the store.
        prefix_columns: leading key columns that a prefix scan goes by.
        partitions: number of partitions.
        schema_files: paths of the schema files, oldest first; none in version 1.
    """

    name: str
    prefix_columns: int
    partitions: int
    schema_files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A stateful operator.

    Attributes:
        operator_id: its number in the query.
        name: Spark's name of it, such as `stateStoreSave`; `unknown` without metadata, which
            Spark writes since 4.0.
        metadata_version: 1 or 2; None without metadata.
        stores: its kinds of stores.
        properties_json: what Spark keeps about state variables, as JSON; empty for most.
        written_id: its number as the metadata has it; None without metadata.
    """

    operator_id: int
    name: str
    metadata_version: int | None
    stores: tuple[StoreMetadata, ...]
    properties_json: str = ""
    written_id: int | None = None


def read_operator(folder: Location, *, batch_id: int | None) -> Operator:
    """Read the metadata of the operator whose state lies in a folder.

    Args:
        folder: `state/<operator>`.
        batch_id: tell about this batch; None for the newest.

    Raises:
        MalformedFileError: the metadata is damaged.
        UnreadablePathError: the file system refuses it.
    """
    operator_id = int(folder.path.rpartition("/")[2])
    file = _metadata_file(folder / "_metadata", batch_id)
    if file is None:
        return unknown_operator(operator_id)
    version, _, text = file.read_text().partition("\n")
    if version not in ("v1", "v2"):
        raise MalformedFileError(path=str(file), expected="v1 or v2", found=repr(version[:20]))
    metadata = parse_json_object(text, path=str(file))
    try:
        return Operator(
            operator_id=operator_id,
            name=_text(metadata["operatorInfo"]["operatorName"]),
            metadata_version=int(version[1:]),
            stores=tuple(_store(entry) for entry in metadata["stateStoreInfo"]),
            properties_json=_text(metadata.get("operatorPropertiesJson", "")),
            written_id=_int(metadata["operatorInfo"]["operatorId"]),
        )
    except (AttributeError, KeyError, TypeError) as e:
        raise MalformedFileError(
            path=str(file), expected="operatorInfo and stateStoreInfo", found=repr(text[:80])
        ) from e


def unknown_operator(operator_id: int) -> Operator:
    """Return an operator of which there is no metadata."""
    return Operator(
        operator_id=operator_id, name=UNKNOWN_OPERATOR, metadata_version=None, stores=()
    )


def newest_of_version_2(folder: Location, *, batch_id: int | None = None) -> Location | None:
    """Return the metadata of version 2 that tells about a batch; None where there is none.

    Args:
        folder: `state/<operator>/_metadata`.
        batch_id: number of the batch; None for the newest.
    """
    newest = [batch for batch in batch_ids(folder / "v2") if batch_id is None or batch <= batch_id]
    return folder / "v2" / newest[-1] if newest else None


def _metadata_file(folder: Location, batch_id: int | None) -> Location | None:
    if found := newest_of_version_2(folder, batch_id=batch_id):
        return found
    return folder / "metadata" if (folder / "metadata").exists() else None


def _store(entry: dict[str, Any]) -> StoreMetadata:
    # The previews of Spark 4.0 named one file.
    only = entry.get("stateSchemaFilePath")
    return StoreMetadata(
        name=_folder_name(entry["storeName"]),
        prefix_columns=_int(entry["numColsPrefixKey"]),
        partitions=_int(entry["numPartitions"]),
        schema_files=tuple(
            _text(file) for file in entry.get("stateSchemaFilePaths", (only,) if only else ())
        ),
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError("no text")


def _int(value: object) -> int:
    if type(value) is int and 0 <= value <= LARGEST_INT:
        return value
    raise TypeError("no number that Java has")


def _folder_name(value: object) -> str:
    """Return the name of a store, which is that of the folder below its partition's."""
    name = _text(value)
    if not name or "/" in name or "\0" in name or name in (".", ".."):
        raise TypeError("no name of a folder")
    return name

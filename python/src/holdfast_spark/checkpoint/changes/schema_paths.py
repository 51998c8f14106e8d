"""The paths of schema files in the metadata of operators, which are those of one place.

Spark reads the schema of `transformWithState` where the metadata says, whatever the checkpoint
location is (`StateSchemaCompatibilityChecker`, 4.0 to 4.3): a copy of a checkpoint needs its own.
"""

from __future__ import annotations

import json
import re

from holdfast_spark.checkpoint.files.json_values import parse_json_object, utf8_text
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.operators import SCHEMA_FILE

METADATA = re.compile(r"state/\d+/_metadata/v2/\d+")


def with_schemas_in(content: bytes, *, of: Location, to: Location, path: str) -> bytes:
    """Return the metadata of an operator with the paths of its schemas in another place.

    Args:
        content: the metadata.
        of: where the checkpoint is.
        to: where the other place is.
        path: the file of the metadata, for errors.

    Raises:
        MalformedFileError: it is none.
    """
    version, _, text = utf8_text(content, path=path).partition("\n")
    metadata = parse_json_object(text, path=path)
    changed = False
    stores = metadata.get("stateStoreInfo")
    for store in stores if isinstance(stores, list) else ():
        paths = store.get("stateSchemaFilePaths") if isinstance(store, dict) else None
        if isinstance(paths, list) and paths:
            store["stateSchemaFilePaths"] = [_moved(each, of, to) for each in paths]
            changed = True
    if not changed:
        return content
    return f"{version}\n{json.dumps(metadata, separators=(',', ':'))}".encode()


def _moved(schema: object, of: Location, to: Location) -> object:
    found = SCHEMA_FILE.fullmatch(schema) if isinstance(schema, str) else None
    if found is None:
        return schema
    root = f"file:{to.path}" if to.is_local else to.url or str(to)
    before = found["root"].removesuffix(of.path.rstrip("/"))
    if not to.is_local and not of.is_local and before != found["root"]:
        # Spark may know the same file system by another scheme, such as s3a.
        root = f"{before}{to.path}"
    return f"{root.rstrip('/')}/{found['name']}"

"""The column families of an operator's stores, as its schema files and metadata define them.

Holdfast's files have these definitions themselves; of RocksDB's they stand beside the state
(`StateStoreColFamilySchema`, Spark 4.2). The newest schema file has the families of the operator as
it is, older ones those of state variables that the query has left out since, whose rows stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast_spark._operator_names import is_join
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import ConversionError
from holdfast_spark.checkpoint.files.schema_file import (
    DEFAULT_COLUMN_FAMILY,
    ColumnFamily,
    StateSchema,
    read_schema_file,
)
from holdfast_spark.checkpoint.rows.families import DEFAULT_ID, Family

# What a list of values has beside it (`StateStoreColumnFamilySchemaUtils`, Spark 4.0 to 4.3).
_COUNTER_OF_LIST = "$rowCounter_"
_OPERATORS_OWN = "$"
# Of joins (`SymmetricHashJoinStateManager`, Spark 4.2): those of state format 4, which have lists,
# and those that Spark calls internal.
_JOIN_LISTS = re.compile(r"(left|right)-(keyWithTsToValues|tsWithKey)")
_JOIN_INTERNAL = re.compile(r"(left|right)-(keyToNumValues|tsWithKey)")


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyDefinitions:
    """The families of the stores of one name of an operator.

    Attributes:
        newest: those that the operator has now, by their ids.
        earlier: those that it had, and may have rows of, by their ids.
        history: the schemas that each has had, by its name, oldest first.
    """

    newest: Mapping[int, Family]
    earlier: Mapping[int, Family]
    history: Mapping[str, tuple[ColumnFamily, ...]]

    def all(self) -> dict[int, Family]:
        """Return all of them by their ids."""
        return {**self.newest, **self.earlier}


def family_definitions(
    checkpoint: Checkpoint, operator_id: int, *, store_name: str
) -> FamilyDefinitions:
    """Read the definitions of families.

    Args:
        checkpoint: the checkpoint.
        operator_id: the operator, which keeps its state in column families.
        store_name: the store.

    Raises:
        MissingSchemaError: there is no schema file.
        ConversionError: a schema file does not tell how keys are ordered.
        CheckpointError: a schema file or the metadata of the operator cannot be read.
    """
    of_join = is_join(checkpoint.operator(operator_id).name)
    state = checkpoint.location / "state" / operator_id
    newest = checkpoint.schema(operator_id, store_name=store_name)
    files = checkpoint.schema_files(operator_id, store_name=store_name)
    schemas = [*(read_schema_file(file) for file in files[:-1] if file.exists()), newest]
    history: dict[str, list[ColumnFamily]] = {}
    last: dict[str, StateSchema] = {}
    for schema in schemas:
        for name, family in schema.column_families.items():
            history.setdefault(name, []).append(family)
            last[name] = schema
    ordered = sorted(history, key=lambda name: (name not in newest.column_families, name))
    numbers = {
        name: n for n, name in enumerate((n for n in ordered if n != DEFAULT_COLUMN_FAMILY), 1)
    }
    found = {
        name: _family(
            numbers.get(name, DEFAULT_ID), name, schema, of_join=of_join, where=str(state)
        )
        for name, schema in last.items()
    }
    return FamilyDefinitions(
        newest=_by_id(found, newest, wanted=True),
        earlier=_by_id(found, newest, wanted=False),
        history={name: tuple(versions) for name, versions in history.items()},
    )


def _by_id(found: Mapping[str, Family], newest: StateSchema, *, wanted: bool) -> dict[int, Family]:
    return {
        family.family_id: family
        for name, family in found.items()
        if (name in newest.column_families) is wanted
    }


def _family(family_id: int, name: str, schema: StateSchema, *, of_join: bool, where: str) -> Family:
    """Return a family with what a schema file does not say of it: its operator does.

    Whether it has lists is told by what was defined with it, as one of its name may have been of
    another kind before.
    """
    family = schema.column_families[name]
    if not family.key_encoder:
        raise ConversionError(
            f"The schema of the column family {name} in {where} does not tell how its keys are "
            "ordered: expected one by Spark 4.0 or newer, found none. Let such a Spark run a batch "
            "of the query first."
        )
    if of_join:
        has_many_values = _JOIN_LISTS.fullmatch(name) is not None
        is_internal = _JOIN_INTERNAL.fullmatch(name) is not None
    else:
        has_many_values = f"{_COUNTER_OF_LIST}{name}" in schema.column_families
        is_internal = name.startswith(_OPERATORS_OWN)
    return Family(
        family_id=family_id,
        name=name,
        is_internal=is_internal,
        has_many_values=has_many_values,
        encoder_json=family.encoder_json,
        key_json=family.key_json,
        value_json=family.value_json,
    )

"""Timers, indexes of times to live, and joins: what operators keep in families of their own."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkpoint.checkpoints import AT_ONCE, long_row, schema_json
from checkpoint.families.made import (
    FAMILIES,
    K_N,
    MAP_KEY,
    NO_PREFIX,
    family,
    file_bytes,
    map_key,
    transformed,
)
from checkpoint.families.test_family_rows import columns, shown
from holdfast_spark.capacity.observed import observe
from holdfast_spark.checkpoint import Checkpoint, repartition, verify_checkpoint
from holdfast_spark.checkpoint.errors import NoSuchStoreError, NotAJoinError
from holdfast_spark.errors import WrongArgumentError

TIMERS, BY_TIME, TTL, TTL_OF_MAP = range(10, 14)
RANGE = json.dumps({"keyStateEncoderType": "RangeKeyScanStateEncoderSpec", "orderingOrdinals": [0]})
POSTFIX = json.dumps({"keyStateEncoderType": "TimestampAsPostfixKeyStateEncoderSpec"})


def fields(**types: Any) -> str:  # noqa: ANN401 - a name, or JSON
    """Spark's JSON of a row."""
    listed = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in types.items()]
    return json.dumps({"type": "struct", "fields": listed})


def with_struct(first: int | bytes, second: int | bytes) -> bytes:
    """A row of a long and a struct, in either order."""
    slots, behind = [], b""
    for field in (first, second):
        slots.append(field if isinstance(field, int) else 24 << 32 | len(field))
        behind += b"" if isinstance(field, int) else field
    return struct.pack("<Qqq", 0, *slots) + behind


K = json.loads(schema_json(k="long"))
OF_TIMERS = (
    family(
        TIMERS,
        "$procTimers_keyToTimestamp",
        schemas=(fields(key=K, expiryTimestampMs="long"), K_N[1]),
    ),
    family(
        BY_TIME,
        "$procTimers_timestampToKey",
        encoder=RANGE,
        schemas=(fields(expiryTimestampMs="long", key=K), K_N[1]),
    ),
    family(
        TTL,
        "$ttl_total",
        encoder=RANGE,
        schemas=(fields(expirationMs="long", elementKey=K), K_N[1]),
    ),
    family(
        TTL_OF_MAP,
        "$ttl_parts",
        encoder=RANGE,
        schemas=(fields(expirationMs="long", elementKey=json.loads(MAP_KEY)), K_N[1]),
    ),
)


@pytest.fixture
def timed(tmp_path: Path) -> Path:
    """An operator with a timer and an expiring value for each of some keys."""
    records = []
    for k in range(30):
        key, value = long_row(k), long_row(None)
        records += [
            (2 * TIMERS, with_struct(key, 1_000 + k), value),
            (2 * BY_TIME, with_struct(1_000 + k, key), value),
            (2 * TTL, with_struct(5, key), value),
            (2 * TTL_OF_MAP, with_struct(5, map_key(k, 9)), value),
        ]
    whole = file_bytes("D", records, defined=[*FAMILIES, *OF_TIMERS])
    path = transformed(tmp_path / "checkpoint", {"0/1.delta": whole}, batches=1)
    timer = {
        "stateName": "$procTimers_keyToTimestamp",
        "stateVariableType": "TimerState",
        "ttlEnabled": False,
    }
    metadata = path / "state/0/_metadata/v2/0"
    version, _, text = metadata.read_text().partition("\n")
    found = json.loads(text)
    properties = json.loads(found["operatorPropertiesJson"])
    properties["stateVariables"].append(timer)
    found["operatorPropertiesJson"] = json.dumps(properties)
    metadata.write_text(f"{version}\n{json.dumps(found)}")
    return path


def test_registered_timers_are_shown(timed: Path) -> None:
    names = ["partition_id", "key", "expiration_timestamp_ms"]
    assert columns(timed, read_registered_timers=True) == names
    assert (0, {"k": 7}, 1_007) in shown(timed, read_registered_timers=True)


def test_a_plan_knows_which_rows_are_scanned(timed: Path) -> None:
    """Due timers and times to live are, in their order; timers of a key are not."""
    loads = {load.name: load for load in observe(Checkpoint.open(timed), 0).loads}
    assert loads["$procTimers_keyToTimestamp"].prefixes == 0
    for name in ("$procTimers_timestampToKey", "$ttl_total", "$ttl_parts"):
        assert loads[name].prefixes == loads[name].rows == 30
        assert loads[name].order_words == 2


def test_everything_of_a_key_moves_together(timed: Path) -> None:
    repartition(Checkpoint.open(timed), 4, apply=True, settled=AT_ONCE)
    found = verify_checkpoint(Checkpoint.open(timed))
    assert found.sound, found.broken
    timers = {row[1]["k"]: row[0] for row in shown(timed, read_registered_timers=True)}
    assert len({*timers.values()}) == 4
    places: dict[str, Callable[[Any], int]] = {
        "$procTimers_timestampToKey": lambda key: key["key"]["k"],
        "$ttl_total": lambda key: key["elementKey"]["k"],
        "$ttl_parts": lambda key: key["elementKey"]["key"]["k"],
    }
    for name, k in places.items():
        rows = shown(timed, column_family=name)
        assert {k(row[1]): row[0] for row in rows} == timers


def test_an_index_is_of_a_map_if_its_variable_is_one(tmp_path: Path) -> None:
    """Who groups by two columns may call them what Spark calls those of maps."""
    key = fields(key="long", userKey="long")
    element = fields(expirationMs="long", elementKey=json.loads(key))
    defined = [
        family(0, "default"),
        family(1, "total", schemas=(key, K_N[1])),
        family(TTL, "$ttl_total", encoder=RANGE, schemas=(element, K_N[1])),
    ]
    records = []
    for k in range(30):
        records += [
            (2, long_row(k, k + 1), long_row(k)),
            (2 * TTL, with_struct(5, long_row(k, k + 1)), long_row(None)),
        ]
    whole = file_bytes("D", records, defined=defined)
    path = transformed(tmp_path / "checkpoint", {"0/1.delta": whole}, batches=1)
    repartition(Checkpoint.open(path), 4, apply=True, settled=AT_ONCE)
    found = verify_checkpoint(Checkpoint.open(path))
    assert found.sound, found.broken
    totals = {row[1]["key"]: row[0] for row in shown(path, column_family="total")}
    assert len({*totals.values()}) == 4
    rows = shown(path, column_family="$ttl_total")
    assert {row[1]["elementKey"]["key"]: row[0] for row in rows} == totals


@pytest.mark.parametrize(
    ("name", "encoder", "last"),
    [("left-keyWithIndexToValue", NO_PREFIX, "index"), ("left-keyWithTsToValues", POSTFIX, "time")],
)
def test_the_side_of_a_join_is_shown(tmp_path: Path, name: str, encoder: str, last: str) -> None:
    schemas = schema_json(k="long", **{last: "long"}), schema_json(n="long", matched="boolean")
    defined = [family(0, "default"), family(1, name, schemas=schemas, encoder=encoder)]
    records = [(2, long_row(k, 3), long_row(k, 1)) for k in range(9)]
    whole = file_bytes("D", records, defined=defined)
    path = transformed(tmp_path / "checkpoint", {"0/1.delta": whole}, batches=1)
    metadata = path / "state/0/_metadata/v2/0"
    metadata.write_text(metadata.read_text().replace("transformWithStateExec", "symmetricHashJoin"))
    schema = path / "state/0/_stateSchema/default/0_a"
    schema.write_bytes(
        schema.read_bytes().replace(b"\0\5parts", struct.pack(">H", len(name)) + name.encode())
    )
    offsets = path / "offsets/0"
    setting = '"conf": {"spark.sql.streaming.join.stateFormatVersion": "4", '
    offsets.write_text(offsets.read_text().replace('"conf": {', setting))
    assert (0, {"k": 7}, {"n": 7}) in shown(path, join_side="left")
    with pytest.raises(NoSuchStoreError, match=r"Choose a side with --join-side .*, or one of"):
        shown(path)
    ((_, key, _), *_) = shown(path, column_family=name)
    assert key == {"k": 0, last: 3}
    repartition(Checkpoint.open(path), 3, apply=True, settled=AT_ONCE)
    assert verify_checkpoint(Checkpoint.open(path)).sound
    assert len({row[0] for row in shown(path, join_side="left")}) == 3


def test_other_operators_have_no_sides(timed: Path) -> None:
    with pytest.raises(NotAJoinError, match="is no join but transform-with-state"):
        shown(timed, join_side="left")
    with pytest.raises(WrongArgumentError, match="join_side"):
        shown(timed, join_side="left", state_var_name="total")

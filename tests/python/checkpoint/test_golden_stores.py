"""The stores in `tests/golden`, which the JVM tests read too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import ROOT
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.spark_types import parse_struct
from holdfast_spark.checkpoint.files.state_files import group_by_store
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder

GOLDEN = ROOT / "tests" / "golden"
FOLDERS = sorted(path.parent for path in GOLDEN.rglob("expected.json"))


def test_there_are_golden_stores() -> None:
    assert FOLDERS


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(GOLDEN)))
def test_every_version_is_read(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text())
    state = Location.of(str(folder / "state"))
    (store,) = group_by_store(state, state.files())
    assert [entry["version"] for entry in expected["versions"]] == list(store.versions)
    for entry in expected["versions"]:
        found = []
        pieces = replay(
            store.chain(entry["version"]),
            codec=expected["codec"],
            row_checksums=expected["rowChecksums"],
        )
        for file, records in pieces:
            decoder = RowDecoder(records.memory, where=str(file.location))
            columns: dict[str, list[Any]] = {}
            for name, starts, lengths in (
                ("key", records.key_starts, records.key_lengths),
                ("value", records.value_starts, records.value_lengths),
            ):
                schema = parse_struct(expected[f"{name}Schema"], path="expected.json")
                columns[name] = decoder.rows(schema, starts, lengths).to_pylist()
            pairs = zip(columns["key"], columns["value"], strict=True)
            found += [{"key": key, "value": value} for key, value in pairs]
        assert sorted(found, key=str) == sorted(entry["rows"], key=str)

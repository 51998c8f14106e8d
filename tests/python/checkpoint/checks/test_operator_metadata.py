"""What `verify` says of an operator's metadata that is another operator's."""

from __future__ import annotations

import shutil
from pathlib import Path

from checkpoint.checks.harm import text, verified

METADATA = "state/0/_metadata/metadata"


def test_metadata_with_the_number_of_another_operator_stops_the_query(path: Path) -> None:
    text(METADATA, '"operatorId": 0', '"operatorId": 7')(path)
    (broken,) = verified(path).broken
    assert broken.stops
    assert (
        "is of another operator: expected the operatorId 0, found 7. Spark refuses" in broken.error
    )


def test_metadata_that_has_changed_places_does_not(path: Path) -> None:
    shutil.copytree(path / "state/0", path / "state/1")
    text(METADATA, '"operatorId": 0', '"operatorId": 1')(path)
    broken = verified(path).broken
    assert [(file.stops, file.path) for file in broken] == [
        (False, str(path / "state" / number / "_metadata")) for number in ("0", "1")
    ]
    assert "Spark's readers of state take one operator for the other" in broken[0].error

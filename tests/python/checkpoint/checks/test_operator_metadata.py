"""What `verify` says of an operator's metadata that is another operator's."""

from __future__ import annotations

import shutil
from pathlib import Path

from checkpoint.checks.harm import cut, gone, text, verified

METADATA = "state/0/_metadata/metadata"
VERSION_2 = "state/0/_metadata/v2"


def of_version_2(path: Path, *batches: int) -> None:
    """Give the operator metadata as those with state variables have it."""
    written = path / METADATA
    content = written.read_text().replace("v1\n", "v2\n", 1)
    written.unlink()
    for batch in batches:
        (path / VERSION_2).mkdir(exist_ok=True)
        (path / VERSION_2 / str(batch)).write_text(content)


def test_metadata_of_version_2_that_cannot_be_read_stops_the_query(path: Path) -> None:
    of_version_2(path, 0)
    assert verified(path).sound
    cut(f"{VERSION_2}/0")(path)
    found = verified(path)
    (broken,) = found.broken
    assert broken.stops
    assert not found.goes_on
    assert f"{path / VERSION_2 / '0'} is damaged" in broken.error


def test_metadata_of_version_2_whose_checksums_do_not_fit_stops_the_query(path: Path) -> None:
    of_version_2(path, 0, 3)
    for batch, stops in ((0, False), (3, True)):
        checksums = path / VERSION_2 / f".{batch}.crc"
        checksums.write_bytes(b"crc\0\0\0\2\0" + bytes(4))
        found = verified(path)
        assert [(broken.path, broken.stops) for broken in found.broken] == [
            (str(path / VERSION_2 / str(batch)), stops)
        ]
        checksums.unlink()


def test_metadata_of_version_2_that_is_old_or_gone_does_not(path: Path) -> None:
    of_version_2(path, 0, 3)
    cut(f"{VERSION_2}/0")(path)
    assert verified(path).goes_on
    gone(f"{VERSION_2}/0")(path)
    gone(f"{VERSION_2}/3")(path)
    assert verified(path).goes_on


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

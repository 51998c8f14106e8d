"""What `verify` says of an operator's metadata that is another operator's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from checkpoint.checks.harm import cut, folder_gone, gone, text, verified
from checkpoint.families.made import FAMILIES, file_bytes, total, transformed

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


def test_metadata_of_version_2_that_is_old_does_not(path: Path) -> None:
    of_version_2(path, 0, 3)
    cut(f"{VERSION_2}/0")(path)
    assert verified(path).goes_on


@pytest.mark.parametrize("lost", [VERSION_2, f"{VERSION_2}/0", "state/0/_metadata"])
@pytest.mark.parametrize("also", [(), ("state/0/_stateSchema",)])
def test_no_query_with_state_variables_starts_without_their_metadata(
    tmp_path: Path, lost: str, also: tuple[str, ...]
) -> None:
    versions = {"0/1.delta": file_bytes("D", [total(1, 10)], defined=FAMILIES)}
    path = transformed(tmp_path / "checkpoint", versions, batches=1)
    assert verified(path).sound
    for name in (lost, *also):
        folder_gone(name)(path) if (path / name).is_dir() else gone(name)(path)
    found = verified(path)
    assert not found.goes_on
    assert [(broken.path, broken.stops) for broken in found.broken] == [
        (str(path / "state/0/_metadata"), True)
    ]
    assert "Spark does not start such a query without" in found.broken[0].error


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

"""Spark's readers of checkpoints find in those of Holdfast what they find in those of Spark."""

from __future__ import annotations

import pytest

from operators import plan, readings
from operators.cases import CASES
from operators.matrix import Matrix
from operators.readings import READ_IN_ALL_WAYS, Rows

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("operators")]

JOINS = [case for case in READ_IN_ALL_WAYS if "join" in case]


def both(matrix: Matrix, case: str, kind: str) -> tuple[dict[str, Rows], dict[str, Rows]]:
    """The readings of a kind in Holdfast's checkpoint and in Spark's."""
    found, expected = (matrix.readings(case, by)[kind] for by in (plan.HOLDFAST, plan.SPARK))
    assert expected
    return found, expected


@pytest.mark.parametrize("case", CASES)
def test_the_metadata_is_the_same(matrix: Matrix, case: str) -> None:
    found, expected = both(matrix, case, readings.METADATA)
    assert found == expected


@pytest.mark.parametrize("kind", [readings.EARLIER, readings.FROM_SNAPSHOT])
@pytest.mark.parametrize("case", READ_IN_ALL_WAYS)
def test_the_state_of_other_batches_is_the_same(matrix: Matrix, case: str, kind: str) -> None:
    found, expected = both(matrix, case, kind)
    assert found == expected
    assert all(expected.values())


@pytest.mark.parametrize("case", JOINS)
def test_the_sides_of_a_join_are_the_same(matrix: Matrix, case: str) -> None:
    found, expected = both(matrix, case, readings.JOIN_SIDES)
    assert found == expected
    assert all(expected.values())


@pytest.mark.parametrize("case", READ_IN_ALL_WAYS)
def test_the_change_feed_has_the_last_change_of_each_key_in_a_batch(
    matrix: Matrix, case: str
) -> None:
    """Spark's feed has every put and remove, also of a row that comes and goes within a batch."""
    found, expected = both(matrix, case, readings.CHANGES)
    assert {store: by_batch(feed) for store, feed in found.items()} == {
        store: by_batch(net_changes(feed)) for store, feed in expected.items()
    }


def by_batch(feed: Rows) -> Rows:
    return sorted(feed)


def net_changes(feed: Rows) -> Rows:
    """What a feed changes in each batch.

    A row of a feed has batch, kind of change, key, value and partition.
    """
    changes: Rows = []
    there: set[tuple[str, str]] = set()
    for batch in sorted({int(change[0]) for change in feed}):
        last = {(row[4], row[2]): row for row in feed if int(row[0]) == batch}
        for key, change in last.items():
            if change[1] == "update" or key in there:
                changes.append(change)
        there |= {key for key, change in last.items() if change[1] == "update"}
        there -= {key for key, change in last.items() if change[1] == "delete"}
    return changes

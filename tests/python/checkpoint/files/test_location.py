"""Places in file systems."""

from __future__ import annotations

import pytest

from holdfast_spark.checkpoint.errors import UnreadablePathError
from holdfast_spark.checkpoint.files.location import Location


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (
            "abfss://c@account.dfs.core.windows.net/x",
            "needs the package adlfs; install it with pip",
        ),
        ("wasbs://c@account/x", "no package that is installed brings a file system for wasbs://"),
    ],
)
def test_a_protocol_that_is_not_known_is_told_with_what_is_missing(url: str, reason: str) -> None:
    with pytest.raises(UnreadablePathError) as raised:
        Location.of(url)
    assert str(raised.value).startswith(f"Cannot open {url}: ")
    assert reason in str(raised.value)

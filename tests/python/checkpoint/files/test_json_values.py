"""What is shown of JSON that may be anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.json_values import short
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import read_state_ids


def test_what_is_cut_off_has_dots_where_it_was_cut() -> None:
    assert short({"a": 1}) == "{'a': 1}"
    assert short("x" * 20, 11) == f"'{'x' * 10} ..."
    assert short({"a": 1, "b": 2}, 5) == "{'a': ..."


def test_the_sentence_shows_where_a_value_is_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "4"
    ids = {"0": [123_456_789] * 6, "1": ["a" * 20] * 3}
    file.write_text(f"v2\n{json.dumps({'stateUniqueIds': ids})}")
    with pytest.raises(MalformedFileError, match=r" 123456789, .* \.\.\.\. Restore the"):
        read_state_ids(Location.of(str(file)))

"""`holdfast diff`."""

from __future__ import annotations

import shutil
from pathlib import Path

from checkpoint.checkpoints import GOLDEN, lz4, records, row, schema_file, schema_json
from checkpoint.commands.running import document, output, sentence

TYPED = GOLDEN / "spark-4.3" / "typed" / "checkpoint"


def test_diff_tells_what_changed(path: Path) -> None:
    found = document("diff", path)
    assert (found["added"], found["changed"], found["removed"]) == (1, 1, 0)
    assert found["rows"] == [
        {"change": "added", "partition_id": 0, "key": {"k": 4}, "before": None, "after": {"n": 40}},
        {
            "change": "changed",
            "partition_id": 0,
            "key": {"k": 3},
            "before": {"n": 30},
            "after": {"n": 31},
        },
    ]
    assert output("diff", path, "--from-batch", "0", "--to-batch", "1") == (
        f"{path}: the state after batch 0, and after batch 1.\n"
        "Operator 0, aggregation (stateStoreSave), store default.\n"
        "  partition key value\n"
        '+ 0 {"k": 3} {"n": 30}\n- 0 {"k": 1} {"n": 10}\n1 added, 0 changed, 1 removed\n'
    )
    first = document("diff", path, "--to-batch", "0")
    assert (first["added"], first["from_batch"], first["to_batch"]) == (2, -1, 0)
    assert (first["operator_id"], first["operator_name"]) == (0, "stateStoreSave")
    assert (first["store_name"], first["path"]) == ("default", str(path))
    assert "the state before the first batch, and after batch 0." in (
        output("diff", path, "--to-batch", "0")
    )
    assert "  partition key value\n" not in output("diff", path, "--limit", "0")
    assert document("diff", path, "--limit", "0")["rows"] == []


def test_diff_compares_checkpoints(path: Path, tmp_path: Path) -> None:
    other = shutil.copytree(path, tmp_path / "other")
    (other / "state/0/0/3.delta").write_bytes(lz4(records([row(4, 41)])))
    found = document("diff", path, other)
    assert (found["added"], found["changed"], found["removed"]) == (0, 2, 0)
    assert output("diff", path, other).startswith(
        f"The state of {path} after batch 2, and of {other} after batch 2.\n"
    )
    unlike = sentence("diff", path, TYPED)
    assert "compared: the column k of the key is of the types long and integer." in unlike
    assert "Struct" not in unlike
    (other / "state/0/0/_metadata/schema").write_bytes(
        schema_file(schema_json(k="long"), schema_json(m="date", n="long"))
    )
    assert "the value has the columns (n) and (m, n)." in sentence("diff", path, other)
    shutil.copy(path / "state/0/0/_metadata/schema", other / "state/0/0/_metadata/schema")
    shutil.copytree(other / "state/0/0", other / "state/0/1")
    assert "1 partition and" in sentence("diff", path, other)

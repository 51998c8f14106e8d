"""The command `holdfast plan`: stores of operators, their memory and files, and what follows."""

from __future__ import annotations

import re

import pytest
from plan_command import document, run, sentence

from checkpoint.checkpoints import GOLDEN
from harness import ROOT
from holdfast_spark._memory_limit import SHARE_OF_HEAP
from holdfast_spark._operator_names import (
    AGGREGATION,
    DEDUPE,
    DEDUPE_WITHIN_WATERMARK,
    GROUPS,
    GROUPS_IN_PANDAS,
    JOIN,
    LIMIT,
    SESSIONS,
    TRANSFORM,
    WITHOUT_VALUE,
    both_names,
)
from holdfast_spark.capacity.growth import files, hdfs_interval, holdfast_interval
from holdfast_spark.capacity.hdfs_memory import hdfs_memory
from holdfast_spark.capacity.holdfast_memory import holdfast_memory
from holdfast_spark.capacity.load import StoreLoad
from holdfast_spark.capacity.operators import stores_of
from holdfast_spark.capacity.plan import Surroundings
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.spark_types import StructType

DDL = ["--key", "user bigint", "--value", "clicks bigint, last timestamp"]
MUCH = ["--keys", "1000000", "--changes", "10000", "--partitions", "10"]


def load(**changed: float) -> StoreLoad:
    usual = {"rows": 1e6, "key_bytes": 16, "value_bytes": 24, "changes": 1e5, "overwritten": 1e5}
    return StoreLoad(name="default", **{**usual, **changed})


def test_stores_are_those_of_spark() -> None:
    golden = {
        "join": JOIN,
        "zstd": DEDUPE,
        "windows": AGGREGATION,
        "sessions": SESSIONS,
        "within_watermark": DEDUPE_WITHIN_WATERMARK,
        "limit": LIMIT,
        "groups": GROUPS_IN_PANDAS,
    }
    for name, operator in golden.items():
        checkpoint = Checkpoint.open(str(GOLDEN / "spark-4.3" / name / "checkpoint"))
        (found,) = checkpoint.operators
        assert found.name == operator
        schemas = {s.name: checkpoint.row_schema(0, store_name=s.name) for s in found.stores}
        key, values = described(operator, schemas)
        planned = {store.name: store for store in stores_of(operator, key, values)}
        assert planned.keys() == schemas.keys()
        for store_name, schema in schemas.items():
            assert (planned[store_name].key, planned[store_name].value) == (
                schema.key,
                schema.value,
            )


def described(
    operator: str, schemas: dict[str, ColumnFamily]
) -> tuple[StructType, tuple[StructType, ...]]:
    """Key and values as a person would give them."""
    key, value = (schema := next(iter(schemas.values()))).key, schema.value
    match operator:
        case name if name == JOIN:
            sides = [schemas[s].value for s in schemas if s.endswith("WithIndexToValue")]
            return key, tuple(StructType(side.fields[:-1]) for side in sides)
        case name if name == SESSIONS:
            return StructType(key.fields[:-1]), (StructType(value.fields[len(key.fields) :]),)
        case name if name == GROUPS_IN_PANDAS:
            state = value.fields[0].type
            assert isinstance(state, StructType)
            return key, (state,)
    return key, (value,)


def test_memory_grows_with_what_it_depends_on() -> None:
    for memory in (holdfast_memory, hdfs_memory):
        usual = memory(load(), 2)
        assert usual.peak_heap > usual.heap
        assert memory(load(), 3).heap > usual.heap > memory(load(), 1).heap
        assert memory(load(rows=2e6), 2).heap > 1.9 * usual.heap - memory(load(), 1).heap
        assert memory(load(key_bytes=160), 2).heap > usual.heap
        assert memory(load(changes=5e5, overwritten=5e5), 2).heap > usual.heap
        assert memory(load(rows=0, changes=0, overwritten=0), 2).heap < 10_000
        # A row that a batch changes twice is replaced once.
        again = memory(load(changes=3e6, overwritten=3e6), 2)
        assert again == memory(load(changes=1e6, overwritten=1e6), 2)
    appended = holdfast_memory(load(overwritten=0), 1).heap
    assert holdfast_memory(load(), 1).heap > 1.3 * appended
    # Rows of more than 32 KiB have an array each and leave no holes.
    large = holdfast_memory(load(rows=1000, value_bytes=100_000, overwritten=10, changes=10), 1)
    assert 100_000_000 < large.heap < 101_000_000


def test_snapshots_come_when_they_pay() -> None:
    assert hdfs_interval(1e3, 1e9) == 11
    assert holdfast_interval(1e3, 1e9) == 250
    assert holdfast_interval(1e6, 1e6) == 11
    assert holdfast_interval(1 << 20, 30 << 20) == 29
    small = load(rows=100, changes=1, overwritten=1)
    kept = files(small, hdfs_interval, batches_to_retain=100, compression=1)
    assert (round(kept.count), round(kept.kept_bytes)) == (
        115,
        round(105.5 * 52 + 105.5 / 11 * 4804),
    )
    spare = files(small, hdfs_interval, batches_to_retain=100, compression=1, spare_snapshots=1)
    assert round(spare.count - kept.count) == 12


def test_a_plan_adds_up() -> None:
    made = document(*DDL, *MUCH, "--heap", "100m")
    (store,) = made["stores"]
    assert (store["rows"], store["key_bytes"], store["value_bytes"]) == (1_000_000, 16, 24)
    assert (store["changes"], store["overwritten"]) == (10_000, 10_000)
    assert store["delta_bytes"] == 10_000 * 48 + 10 * 4
    assert store["snapshot_bytes"] == 1_000_000 * 48 + 10 * 4
    holdfast, hdfs, rocksdb = made["providers"]
    assert [p["provider"] for p in made["providers"]] == ["holdfast", "hdfs", "rocksdb"]
    assert [p["estimated"] for p in made["providers"]] == [False, False, True]
    for provider in (holdfast, hdfs):
        room, partition = 50 << 20, provider["peak_heap_bytes"] / 10
        assert provider["partitions_per_executor"] == min(10, room // partition)
        assert provider["executors"] == -(-10 // provider["partitions_per_executor"])
    assert hdfs["executors"] > holdfast["executors"]
    assert holdfast["written_bytes"] < hdfs["written_bytes"]
    assert (rocksdb["heap_bytes"], rocksdb["executors"], rocksdb["retained_files"]) == (
        *(0, None, None),
    )
    assert rocksdb["native_bytes"] > 0
    assert document(*DDL, *MUCH, "--heap", "1m")["providers"][0]["executors"] is None


def test_what_is_assumed_is_told() -> None:
    arguments = ["--operator", "dedupe", "--key", "name string, tags array<string>", *MUCH]
    told = "\n".join(document(*arguments)["assumptions"])
    assert "name is taken to have 16 bytes on average: --length name=N says otherwise." in told
    assert "tags is taken to have 4 elements on average" in told
    assert "compression is left out" in told
    lengths = ["--length", "name=3", "--length", "tags=1", "--length", "tags.element=20"]
    told = "\n".join(document(*arguments, *lengths, "--compression", "0.5")["assumptions"])
    assert "--length" not in told
    assert "compression" not in told
    assert "Heaps of 32 GiB" in "\n".join(document(*DDL, *MUCH, "--heap", "40g")["assumptions"])


def test_a_join_has_rows_on_both_sides() -> None:
    join = ["--operator", "symmetricHashJoin", "--key", "k bigint", "--value", "k bigint, a int"]
    made = document(*join, "--right-value", "k bigint", *MUCH, "--rows-per-key", "2.5")
    assert {s["name"]: (s["rows"], s["value_bytes"], s["overwritten"]) for s in made["stores"]} == {
        "left-keyToNumValues": (1_000_000, 16, 10_000),
        "left-keyWithIndexToValue": (2_500_000, 32, 0),
        "right-keyToNumValues": (1_000_000, 16, 10_000),
        "right-keyWithIndexToValue": (2_500_000, 24, 0),
    }


@pytest.mark.parametrize(
    ("names", "operator"),
    [
        (("aggregation", "stateStoreSave", "StateStoreSaveExec", "Aggregation"), AGGREGATION),
        (("session-windows", "sessionWindowStateStoreSaveExec", "session_window"), SESSIONS),
        (("deduplication", "dedupe", "dropDuplicates", "StreamingDeduplicateExec"), DEDUPE),
        (
            ("deduplication-within-watermark", "dropDuplicatesWithinWatermark"),
            DEDUPE_WITHIN_WATERMARK,
        ),
        (("map-groups-with-state", "flatMapGroupsWithState"), GROUPS),
        (("apply-in-pandas-with-state", "applyInPandasWithState"), GROUPS_IN_PANDAS),
        (("join", "symmetricHashJoin", "StreamingSymmetricHashJoinExec"), JOIN),
        (("limit", "globalLimit", "StreamingGlobalLimitExec"), LIMIT),
        (("transform-with-state", "transformWithStateInPySparkExec"), TRANSFORM),
    ],
)
def test_operators_have_the_names_that_people_know_and_those_of_spark(
    names: tuple[str, ...], operator: str
) -> None:
    value = [] if operator in WITHOUT_VALUE else ["--value", "b bigint"]
    key = [] if operator == LIMIT else ["--key", "a bigint", *MUCH]
    for name in names:
        assert document(*key, *value, "--operator", name)["operator"] == operator
    assert both_names(operator).startswith(f"{names[0]} ({operator}")


def test_an_unknown_operator_is_answered_with_the_known_ones() -> None:
    text = " ".join(sentence(*DDL, *MUCH, "--operator", "sort", code=2).split())
    assert "sort is no stateful operator that is known: use aggregation (stateStoreSave)," in text
    assert both_names("sort") == "sort"


@pytest.mark.parametrize("option", ["--compression", "--rows-per-key", "--state-share"])
@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "1e19", "1e308"])
def test_numbers_that_nothing_can_be_calculated_from_are_refused(option: str, number: str) -> None:
    text = " ".join(sentence(*DDL, *MUCH, f"{option}={number}", code=2).split())
    assert f"Invalid value for '{option}'" in text
    expected = "is not a valid number" if number == "nan" else "is not in the range"
    assert expected in text


def test_the_largest_numbers_are_calculated_with() -> None:
    join = ["--key", "a int", "--value", "b string", "--operator", "join"]
    most = ["--keys", f"{2**63 - 1}", "--changes", f"{2**63 - 1}", "--removals", f"{2**63 - 1}"]
    ratios = ["--compression", "1e18", "--rows-per-key", "1e18", "--length", f"b={10**18}"]
    run_with = [*join, *most, *ratios]
    assert document(*run_with)["stores"]
    assert "Invalid" not in run(*run_with, "--heap", "8g").stderr
    for length in (10**19, 10**400):
        assert sentence(*DDL, *MUCH, "--length", f"clicks={length}")


def test_people_get_tables() -> None:
    result = run(*DDL, *MUCH, "--heap", "8g")
    assert result.exit_code == 0
    for part in (
        "aggregation (stateStoreSave) in 10 partitions",
        "rocksdb (estimate)",
        "executors",
        "Assumed",
    ):
        assert part in result.stdout
    assert "too small" in run(*DDL, *MUCH, "--heap", "1m").stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--key", "a text", "--value", "b int", *MUCH], "expected a type of Spark, found text"),
        (["--key", "a int", "--value", "", *MUCH], "keeps a value for each key: say which."),
        (["--key", "", "--value", "b int", "--keys", "5"], "without a key keeps one row for the"),
        (["--key", "", "--operator", "dedupe", *MUCH], "deduplication has a key, and none is"),
        ([*DDL, *MUCH, "--operator", "dedupe"], "deduplication keeps no value of the query's"),
        ([*DDL, *MUCH, "--right-value", "x int"], "aggregation has no right side"),
        ([*DDL, *MUCH, "--rows-per-key", "2"], "aggregation keeps one row for each key"),
        (["--operator", LIMIT, "--key", "k int"], "limit keeps one row for the whole query"),
        (
            ["--key", "s string", "--value", "b int", *MUCH, "--length", "t=4"],
            "No field of variable length is named t: the schemas have s.",
        ),
    ],
)
def test_a_description_that_does_not_fit_is_one_sentence(
    arguments: list[str], expected: str
) -> None:
    text = sentence(*arguments)
    assert text.startswith("Error: ")
    assert expected in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "plan needs --checkpoint PATH, or --key, --value, --keys and --changes"),
        (DDL, "plan needs --keys and --changes"),
        (["--key", "a int", *MUCH], "plan needs --value"),
        (["--key", ""], "plan needs --value"),
        (["--operator", "dedupe", *MUCH], "plan needs --key"),
        (["--operator", "join", "--keys", "7"], "plan needs --key, --value and --changes"),
        (["--checkpoint", "x", *DDL], "all that these say, leave out: --key, --value"),
        (["--checkpoint", "x", "--operator", "join"], "leave out: --operator"),
        (["--checkpoint", "x", "--removals", "1"], "leave out: --removals"),
        ([*DDL, *MUCH, "--operator-id", "1"], "leave out: --operator-id"),
        ([*DDL, *MUCH, "--heap", "much"], "much is no size: write it like 8g or 900m."),
        ([*DDL, *MUCH, "--heap", "16"], "16 has no unit: write it like 16g or 16m."),
        ([*DDL, *MUCH, "--length", "user"], "--length takes FIELD=N, and user is not that"),
        ([*DDL, *MUCH, "--length", "user=many"], "and user=many is not that"),
        ([*DDL, *MUCH, "--operator", "window"], "window is no stateful operator"),
    ],
)
def test_wrong_usage_is_told_with_all_and_only_what_is_wrong(
    arguments: list[str], expected: str
) -> None:
    text = sentence(*arguments, code=2).rstrip()
    assert text.endswith(expected) or (expected in text and "needs" not in expected)


def test_an_aggregation_of_all_rows_has_one_row_in_one_partition() -> None:
    made = document("--key", "", "--value", "n bigint")
    assert made["partitions"] == 1
    assert [(store["rows"], store["key_bytes"]) for store in made["stores"]] == [(1, 0)]


def test_sizes_may_have_any_unit_that_people_write() -> None:
    fitting = [
        document(*DDL, *MUCH, "--heap", size)["providers"][0]["partitions_per_executor"]
        for size in ("8g", "8192m", "8 GiB", "8GB")
    ]
    assert fitting == fitting[:1] * 4


def test_sessions_are_counted_by_key() -> None:
    sessions = ["--operator", SESSIONS, "--key", "user bigint", "--value", "n bigint"]
    made = document(*sessions, *MUCH, "--rows-per-key", "3", "--removals", "4000")
    (store,) = made["stores"]
    assert (store["rows"], store["key_bytes"]) == (3_000_000, 8 + 2 * 8)
    # The window is a struct of two timestamps.
    assert store["value_bytes"] == 8 + 3 * 8 + (8 + 2 * 8)
    assert (store["changes"], store["overwritten"], store["removed"]) == (10_000, 6_000, 4_000)
    assert store["delta_bytes"] == 10_000 * (8 + 24 + 56) + 4_000 * (8 + 24) + 10 * 4
    scanned, plain = load(prefixes=1e6), load()
    for memory in (holdfast_memory, hdfs_memory):
        assert memory(scanned, 2).heap > memory(plain, 2).heap
    # Spark's provider has a set for each key, and one for the rows of a single key is smaller.
    assert hdfs_memory(load(prefixes=1e3), 1).heap < hdfs_memory(scanned, 1).heap


def test_removed_rows_stay_in_older_versions() -> None:
    for memory in (holdfast_memory, hdfs_memory):
        removing = load(overwritten=0, removed=1e5)
        assert memory(removing, 2).heap > memory(load(overwritten=0), 2).heap
        assert memory(load(overwritten=0, removed=3e6), 2) == memory(
            load(overwritten=0, removed=1e6), 2
        )


def test_a_limit_has_one_row() -> None:
    made = document("--operator", LIMIT)
    assert made["partitions"] == 1
    assert [(s["rows"], s["key_bytes"], s["value_bytes"]) for s in made["stores"]] == [(1, 16, 16)]
    assert made["providers"][0]["heap_bytes"] < 10_000


def test_column_families_the_default_provider_has_not() -> None:
    transform = ["--operator", TRANSFORM, "--key", "k bigint", "--value", "n bigint"]
    made = document(*transform, *MUCH, "--rows-per-key", "2")
    assert [provider["provider"] for provider in made["providers"]] == ["holdfast", "rocksdb"]
    assert made["stores"][0]["rows"] == 2_000_000
    told = run(*transform, *MUCH).stdout
    assert "rocksdb (estimate)" in told
    assert "hdfs" not in told


def test_the_share_of_the_heap_is_that_of_the_memory_limit() -> None:
    page = (ROOT / "docs" / "settings.md").read_text()
    default = re.search(r"memoryLimit` \| `(\d+)%` \|", page)
    assert default
    assert int(default[1]) == SHARE_OF_HEAP * 100
    assert Surroundings(partitions=1).state_share == SHARE_OF_HEAP

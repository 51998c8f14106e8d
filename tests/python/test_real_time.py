"""Real-time mode: `holdfast.configure(builder, real_time_mode=True)`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from test_session import PROVIDER, builder

import holdfast_spark as holdfast
from harness import Spark, is_since
from holdfast_spark._setting_names import FIRST_REAL_TIME_LINE
from holdfast_spark.checkpoint import Checkpoint, read_rows, verify_checkpoint
from holdfast_spark.errors import NoRealTimeModeError, ProviderInRealTimeModeError

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_spark_settings")]
real_time = pytest.mark.since(FIRST_REAL_TIME_LINE, "real-time mode")

SWITCH = "spark.sql.streaming.stateStore.holdfast.realTimeMode"
HOLDFAST = "io.holdfast.HoldfastStateStoreProvider"
WORDS = ["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"]
RUNS = 3


@real_time
def test_the_switch_takes_the_place_of_the_provider_class() -> None:
    options = holdfast.configure(builder(), real_time_mode=True)._options
    assert options[SWITCH] == "true"
    assert PROVIDER not in options


@real_time
def test_a_session_that_was_configured_without_it_gets_it_and_keeps_it() -> None:
    given = holdfast.configure(builder())
    assert given._options[PROVIDER] == HOLDFAST
    holdfast.configure(given, real_time_mode=True)
    options = dict(given._options)
    assert options[SWITCH] == "true"
    assert PROVIDER not in options
    holdfast.configure(given)
    assert given._options == options


@real_time
def test_a_provider_class_of_the_installation_is_in_the_way(
    spark: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = spark.conf_folder(spark_defaults=f"{PROVIDER} {HOLDFAST}\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(conf))
    with pytest.raises(ProviderInRealTimeModeError, match=f"{PROVIDER} is set to {HOLDFAST} in"):
        holdfast.configure(builder(), real_time_mode=True)


def test_older_spark_has_no_real_time_mode() -> None:
    if is_since(FIRST_REAL_TIME_LINE):
        pytest.skip("this Spark has it")
    with pytest.raises(NoRealTimeModeError, match=r"use Spark 4\.3 or newer"):
        holdfast.configure(builder(), real_time_mode=True)


@real_time
def test_a_query_goes_from_real_time_mode_to_micro_batches_and_back(spark: Spark) -> None:
    result = spark.python("real_time.py", spark.folder).result()
    for word, times in Counter(WORDS).items():
        # In micro-batches a word is written once for a batch, in real-time mode each time.
        first, second, third = times, 2 * times, 3 * times
        expected = [*range(1, first + 1), second, *range(second + 1, third + 1)]
        assert result["written"][word] == expected
    assert result["on_holdfast"] == [True] * RUNS
    assert not result["provider"]
    check_checkpoint(spark.folder / "checkpoint")


def check_checkpoint(path: Path) -> None:
    """Check that the commands read what real-time mode has written."""
    checkpoint = Checkpoint.open(str(path))
    assert checkpoint.settings.provider_class == HOLDFAST
    assert verify_checkpoint(checkpoint).sound
    rows = [row for batch in read_rows(checkpoint) for row in batch.to_pylist()]
    counted = {row["key"]["value"]: row["value"] for row in rows}
    assert counted.keys() == set(WORDS)

"""A query in real-time mode that reads a real Kafka, is killed, and goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness import APPS, spark_variables
from holdfast_spark.checkpoint import Checkpoint, read_rows, verify_checkpoint
from soak.sources import kafka
from soak.sources.kafka.start import start

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.usefixtures("no_spark_settings")]

TOPIC = "numbers"
PARTITIONS = 2
NUMBERS = 20


class Topic:
    """A topic of numbers on a broker of its own, and what was written to it."""

    def __init__(self, folder: Path) -> None:
        self.brokers, self._client = start(folder, TOPIC, nodes=1, partitions=PARTITIONS)
        self.written: Counter[int] = Counter()

    def send(self, numbers: range, *, commit: bool = True) -> None:
        """Write numbers in one transaction, which is given up where it is not committed."""
        self._client.send([(number % PARTITIONS, number) for number in numbers], commit=commit)
        if commit:
            self.written.update(number % NUMBERS for number in numbers)

    def close(self) -> None:
        self._client.close()
        self.brokers.kill()


@contextmanager
def topic_in(folder: Path) -> Iterator[Topic]:
    topic = Topic(folder)
    try:
        yield topic
    finally:
        topic.close()


class Query:
    """A run of the query, in a process group of its own."""

    def __init__(self, folder: Path, topic: Topic) -> None:
        self._folder = folder
        jars = ",".join(map(str, kafka.connector()))
        arguments = [str(folder), topic.brokers.addresses, TOPIC, str(NUMBERS), jars]
        self._running = subprocess.Popen(
            [sys.executable, str(APPS / "real_time_kafka.py"), *arguments],
            env=spark_variables(),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def counted(self) -> Counter[int]:
        """Return how often each number has come, as the newest lines say."""
        written = self._folder / "written"
        files = written.iterdir() if written.exists() else ()
        lines = {int(file.name): file.read_text().split() for file in files}
        return Counter({number: int(times[-1]) for number, times in lines.items() if times})

    def wait_for(self, records: int) -> None:
        """Wait until so many records were counted."""
        while self.counted().total() < records:
            assert self._running.poll() is None
            time.sleep(0.02)

    def end(self) -> dict[str, bool]:
        """Have it end, and return what it prints."""
        (self._folder / "enough").touch()
        out, _ = self._running.communicate()
        assert self._running.returncode == 0
        answer: dict[str, bool] = json.loads(out.splitlines()[-1])
        return answer

    def kill(self) -> None:
        """Kill it with SIGKILL, if it runs."""
        if self._running.poll() is None:
            os.killpg(self._running.pid, signal.SIGKILL)
            self._running.communicate()


@contextmanager
def query_of(topic: Topic, folder: Path) -> Iterator[Query]:
    query = Query(folder, topic)
    try:
        yield query
    finally:
        query.kill()


@pytest.mark.since("4.3", "real-time mode")
def test_a_killed_query_in_real_time_mode_counts_each_record_once(tmp_path: Path) -> None:
    folder = tmp_path / "query"
    with topic_in(tmp_path / "kafka") as topic:
        topic.send(range(300))
        topic.send(range(300, 400), commit=False)
        with query_of(topic, folder) as query:
            query.wait_for(300)
            topic.send(range(400, 1000))
            # In the middle of a batch: in real-time mode rows are written long before it ends.
            query.wait_for(301)
            query.kill()
        topic.send(range(1000, 1100))
        with query_of(topic, folder) as query:
            query.wait_for(topic.written.total())
            assert query.end()["on_holdfast"]
            assert query.counted() == topic.written
    checkpoint = Checkpoint.open(str(folder / "checkpoint"))
    assert verify_checkpoint(checkpoint).sound
    rows = [row for batch in read_rows(checkpoint) for row in batch.to_pylist()]
    assert {row["key"]["number"]: row["value"]["count"] for row in rows} == topic.written

"""Kafka's clients for Java, in a JVM of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from devtools.class_data import BRIEF_JVM
from devtools.jars import of_pyspark
from soak.sources import SourceError
from soak.sources.kafka.brokers import class_path

_PATIENCE_SECONDS = 120.0
_POLL_SECONDS = 0.1
_REQUEST_MILLIS = 5_000
_PATIENCE_MILLIS = int(1000 * _PATIENCE_SECONDS)


class Client:
    """Asks brokers for things and writes to one topic; waits for brokers that are away.

    For any number of threads, but for `send`.
    """

    def __init__(self, jars: Sequence[Path], topic: str) -> None:
        from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

        port = launch_gateway(
            classpath=class_path(jars),
            jarpath=str(of_pyspark("py4j")),
            javaopts=["-Xmx128m", *BRIEF_JVM.split()],
            die_on_exit=True,
        )
        self._gateway: Any = JavaGateway(
            gateway_parameters=GatewayParameters(port=port, auto_convert=True)
        )
        self._topic = topic
        self._kafka: Any = self._gateway.jvm.org.apache.kafka
        self._admin: Any = None
        self._producer: Any = None

    def format(self, properties: Iterable[Path]) -> None:
        """Format the storage of brokers, as `kafka-storage.sh` does."""
        cluster = self._kafka.common.Uuid.randomUuid().toString()
        jvm = self._gateway.jvm
        for file in properties:
            words = ["format", "-t", cluster, "-c", str(file)]
            arguments = self._gateway.new_array(jvm.java.lang.String, len(words))
            for place, word in enumerate(words):
                arguments[place] = word
            said = jvm.java.io.ByteArrayOutputStream()
            code = jvm.kafka.tools.StorageTool.execute(arguments, jvm.java.io.PrintStream(said))
            if code != 0:
                raise SourceError(f"the storage of a broker cannot be formatted: {said.toString()}")

    def connect(self, addresses: str) -> None:
        """Begin to ask the brokers at some addresses."""
        every = {
            "bootstrap.servers": addresses,
            "request.timeout.ms": _REQUEST_MILLIS,
            "reconnect.backoff.max.ms": 500,
        }
        serializer = "org.apache.kafka.common.serialization.StringSerializer"
        self._admin = self._kafka.clients.admin.Admin.create(
            self._properties({**every, "default.api.timeout.ms": _PATIENCE_MILLIS})
        )
        self._producer = self._kafka.clients.producer.KafkaProducer(
            self._properties(
                {
                    **every,
                    "acks": "all",
                    "transactional.id": "feed",
                    "max.block.ms": _PATIENCE_MILLIS,
                    "delivery.timeout.ms": _PATIENCE_MILLIS,
                    "key.serializer": serializer,
                    "value.serializer": serializer,
                }
            )
        )

    def make_topic(self, partitions: int, replicas: int) -> None:
        """Make the topic, and begin to write."""
        made: Any = self._kafka.clients.admin.NewTopic(self._topic, partitions, replicas)
        self._admin.createTopics([made]).all().get()
        self._producer.initTransactions()

    def send(self, numbers: Sequence[tuple[int, int]], *, commit: bool) -> list[int]:
        """Write numbers in one transaction; return their offsets.

        Args:
            numbers: each with its partition before it.
            commit: else the transaction is aborted.
        """
        self._producer.beginTransaction()
        record = self._kafka.clients.producer.ProducerRecord
        sent = [
            self._producer.send(record(self._topic, partition, None, str(number)))
            for partition, number in numbers
        ]
        self._producer.flush()
        if commit:
            self._producer.commitTransaction()
        else:
            self._producer.abortTransaction()
        return [int(each.get().offset()) for each in sent]

    def wait_for_brokers(self, count: int) -> None:
        """Wait until so many brokers are there."""
        _wait(lambda: self._admin.describeCluster().nodes().get().size() == count, "brokers")

    def leaders(self) -> dict[int, int]:
        """Return the node that leads each partition, -1 for none."""
        return {
            int(each.partition()): int(each.leader().id()) if each.leader() else -1
            for each in self._described().partitions()
        }

    def wait_for_leaders_but(self, node: int) -> None:
        """Wait until a node that is away leads no partition any more."""
        _wait(lambda: node not in self.leaders().values(), "other leaders")

    def add_partitions(self, count: int) -> None:
        """Have the topic have so many."""
        more = self._kafka.clients.admin.NewPartitions.increaseTo(count)
        self._admin.createPartitions({self._topic: more}).all().get()
        _wait(lambda: len(self.leaders()) == count and -1 not in self.leaders().values(), "leaders")

    def ends(self) -> dict[int, int]:
        """Return the offset behind the last record of each partition."""
        return self._offsets(self._kafka.clients.admin.OffsetSpec.latest())

    def starts(self) -> dict[int, int]:
        """Return the offset of the first record that each partition still has."""
        return self._offsets(self._kafka.clients.admin.OffsetSpec.earliest())

    def remove_all(self) -> dict[int, int]:
        """Let retention remove all that there is; return where each partition begins then."""
        self._set("retention.ms", "1")
        _wait(lambda: self.starts() == self.ends(), "retention")
        self._set("retention.ms", "-1")
        return self.starts()

    def close(self) -> None:
        """End the JVM."""
        self._gateway.shutdown()

    def _described(self) -> Any:  # noqa: ANN401 - of Java
        return self._admin.describeTopics([self._topic]).allTopicNames().get()[self._topic]

    def _offsets(self, which: Any) -> dict[int, int]:  # noqa: ANN401 - of Java
        place = self._kafka.common.TopicPartition
        asked = {place(self._topic, partition): which for partition in self.leaders()}
        found = self._admin.listOffsets(asked).all().get()
        return {int(each.partition()): int(found[each].offset()) for each in found}

    def _set(self, name: str, value: str) -> None:
        config = self._kafka.common.config.ConfigResource
        admin = self._kafka.clients.admin
        resource = config(config.Type.TOPIC, self._topic)
        change = admin.AlterConfigOp(admin.ConfigEntry(name, value), admin.AlterConfigOp.OpType.SET)
        self._admin.incrementalAlterConfigs({resource: [change]}).all().get()

    def _properties(self, values: dict[str, object]) -> Any:  # noqa: ANN401 - of Java
        made = self._gateway.jvm.java.util.Properties()
        for name, value in values.items():
            made.setProperty(name, str(value))
        return made


def _wait(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise SourceError(f"Kafka is waited for in vain: {what}")
        time.sleep(_POLL_SECONDS)

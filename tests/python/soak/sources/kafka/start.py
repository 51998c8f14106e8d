"""Brokers that have just been started, with a topic."""

from __future__ import annotations

from pathlib import Path

from soak.sources.kafka import broker
from soak.sources.kafka.brokers import Brokers
from soak.sources.kafka.client import Client


def start(folder: Path, topic: str, *, nodes: int, partitions: int) -> tuple[Brokers, Client]:
    """Start brokers, make a topic that each of them has, and return them with a client for it.

    Args:
        folder: takes what the brokers keep; it is made.
        topic: name of the topic.
        nodes: how many brokers.
        partitions: of the topic.
    """
    folder.mkdir()
    jars = broker()
    brokers, client = Brokers(folder, jars, nodes), Client(jars, topic)
    client.format(each.properties for each in brokers)
    for each in brokers:
        each.start()
    client.connect(brokers.addresses)
    client.wait_for_brokers(nodes)
    client.make_topic(partitions, nodes)
    return brokers, client

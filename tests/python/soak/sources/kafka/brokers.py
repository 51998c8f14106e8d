"""Brokers, each a JVM of its own, of which one is the controller too."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from devtools.class_data import BRIEF_JVM

HOST = "127.0.0.1"
CONTROLLER = 1
"""The node without which no partition changes its leader."""

_PATIENCE_SECONDS = 60.0
# Below the ports that the system gives to connections: a broker that is away finds its own again.
_PORTS = range(20_000, 32_000)


class Broker:
    """A broker; it dies with the process that has started it."""

    def __init__(self, folder: Path, jars: Sequence[Path], properties: dict[str, object]) -> None:
        self.properties = folder / "server.properties"
        folder.mkdir()
        lines = [f"{name}={value}\n" for name, value in properties.items()]
        self.properties.write_text("".join([*lines, f"log.dirs={folder / 'data'}\n"]))
        self._log = folder / "log.txt"
        self._jars = jars
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it answers some seconds later."""
        java = ("java", "-Xmx256m", *BRIEF_JVM.split(), "-cp", class_path(self._jars))
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *java, "kafka.Kafka", str(self.properties)],
                env=without_options(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C is for the process that looks after it.
                start_new_session=True,
            )

    def stop(self) -> None:
        """Have it stop, and hand its partitions to others before."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            try:
                self._process.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


class Brokers(list[Broker]):
    """Some brokers that know each other."""

    def __init__(self, folder: Path, jars: Sequence[Path], count: int) -> None:
        controller, *ports = _free_ports(count + 1)
        self.addresses = ",".join(f"{HOST}:{port}" for port in ports)
        for node, port in enumerate(ports, start=1):
            address = f"PLAINTEXT://{HOST}:{port}"
            controls = node == CONTROLLER
            properties = {
                "node.id": node,
                "process.roles": "broker,controller" if controls else "broker",
                "controller.quorum.voters": f"{CONTROLLER}@{HOST}:{controller}",
                "controller.listener.names": "CONTROLLER",
                "listeners": f"{address},CONTROLLER://{HOST}:{controller}" if controls else address,
                "advertised.listeners": address,
                **_of_all(count),
            }
            self.append(Broker(folder / f"broker-{node}", jars, properties))

    def kill(self) -> None:
        """Kill all that run."""
        for broker in self:
            broker.kill()


def _of_all(count: int) -> dict[str, object]:
    return {
        "auto.create.topics.enable": "false",
        "min.insync.replicas": 1,
        "offsets.topic.num.partitions": 1,
        "offsets.topic.replication.factor": count,
        "transaction.state.log.num.partitions": 2,
        "transaction.state.log.replication.factor": count,
        "transaction.state.log.min.isr": 1,
        # What takes minutes else: a lost broker is noticed, leaders go back to those that were
        # meant to be, and what nobody is to keep is removed.
        "broker.session.timeout.ms": 3000,
        "broker.heartbeat.interval.ms": 500,
        "leader.imbalance.check.interval.seconds": 2,
        "log.initial.task.delay.ms": 0,
        "log.retention.check.interval.ms": 500,
        "group.initial.rebalance.delay.ms": 0,
    }


def class_path(jars: Sequence[Path]) -> str:
    """Return jars as `java` takes them."""
    return os.pathsep.join(map(str, jars))


def without_options() -> dict[str, str]:
    """Return the environment without what is meant for the JVMs of Spark."""
    return {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}


def _free_ports(count: int) -> list[int]:
    found: list[int] = []
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        with socket.socket() as tried:
            if tried.connect_ex((HOST, port)) != 0:
                found.append(port)
        if len(found) == count:
            break
    return found

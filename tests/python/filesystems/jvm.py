"""A JVM with Spark's jars, of which Python calls what it wants."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from devtools.class_data import BRIEF_JVM

_LOGGING = Path(__file__).with_name("log4j2.properties")
# As Spark's launcher has them, but for those of its engine.
_OPEN = (
    "java.lang",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "sun.nio.ch",
)


class Jvm:
    """A JVM of its own; closed it ends, as it does when this process ends.

    Args:
        jars: what is on its class path before Spark's jars.
        user: who it says it is to HDFS.
    """

    def __init__(self, jars: Iterable[Path] = (), *, user: str = "holdfast") -> None:
        # Not everywhere where tests are collected.
        import pyspark
        from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

        spark = Path(pyspark.__file__).parent / "jars"
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN]
        settings = [f"-Dlog4j2.configurationFile={_LOGGING}", f"-DHADOOP_USER_NAME={user}"]
        port, process = launch_gateway(
            port=0,
            classpath=os.pathsep.join([*map(str, jars), f"{spark}/*"]),
            javaopts=["-Xmx512m", *settings, *BRIEF_JVM.split(), *opened],
            die_on_exit=True,
            return_proc=True,
        )
        self._process = cast(subprocess.Popen[bytes], process)
        self._gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
        self.classes: Any = self._gateway.jvm

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()

    def close(self) -> None:
        """End it."""
        self._gateway.shutdown()
        self.kill()

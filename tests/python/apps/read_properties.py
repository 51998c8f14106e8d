"""Prints as JSON what Spark reads of files of settings, as `spark-submit` does.

read_properties.py FILE ...
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from pyspark.java_gateway import launch_gateway

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway


def settings(gateway: JavaGateway, file: str) -> dict[str, str]:
    found = gateway.jvm.org.apache.spark.util.Utils.getPropertiesFromFile(file).iterator()
    read = {}
    while found.hasNext():
        setting = found.next()
        read[setting._1()] = setting._2()
    return read


def main(*files: str) -> None:
    gateway = launch_gateway()  # type: ignore[no-untyped-call]
    print(json.dumps([settings(gateway, file) for file in files]))
    gateway.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Jars that tests need besides Spark's, each list of them in an `ivy.xml` beside the tests."""

from __future__ import annotations

from pathlib import Path

from devtools import environments
from devtools.steps import fingerprint
from devtools.workshop import Workshop


def s3a_jars(workshop: Workshop) -> Path:
    """Return the folder of the jars that Spark needs for `s3a`."""
    return _jars(workshop, "s3a", "objectstores")


def hdfs_jars(workshop: Workshop) -> Path:
    """Return the folder of the jar with a cluster of HDFS in one process."""
    return _jars(workshop, "hdfs", "filesystems")


def _jars(workshop: Workshop, name: str, package: str) -> Path:
    wanted = workshop.root / "tests" / "python" / package / "ivy.xml"
    folder = workshop.steps.folder / f"{name}-jars"
    ivy = environments.ivy_jar(workshop.spark(workshop.line(None)))
    workshop.steps.do(
        f"jars of {name}",
        lambda log: log.run(
            *(workshop.java.command, "-jar", ivy, "-ivy", wanted),
            *("-retrieve", folder / "[artifact]-[revision].[ext]", "-overwriteMode", "always"),
        ),
        fingerprint=fingerprint(files=[wanted], root=workshop.root),
        product=folder,
    )
    return folder

"""The settings that a session here has, or would have, and where they are from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast_spark import _jvm, _launch_settings
from holdfast_spark._setting_names import (
    DRIVER_CLASS_PATH,
    EXTENSIONS,
    FILE_MANAGER,
    JARS,
    MASTER,
    PACKAGES,
    PLUGINS,
    PROVIDER,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OF_STORES = "spark.sql.streaming."
_SHOWN = (JARS, PACKAGES, DRIVER_CLASS_PATH, PLUGINS, EXTENSIONS, PROVIDER, FILE_MANAGER)
_CLUSTER_ON_THIS_MACHINE = "local-cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What is set for sessions.

    Attributes:
        settings: all of them, by name.
        sources: where they are from.
        running: version of the Spark that runs, None where none does.
        of_connect: the session is one of Spark Connect, whose settings are the server's.
        in_files: what each file sets of those that a session begins with, a later one winning;
            none where Spark runs already.
    """

    settings: Mapping[str, str]
    sources: tuple[str, ...]
    in_files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    running: str | None = None
    of_connect: bool = False

    @property
    def shown(self) -> dict[str, str]:
        """Those that have to do with state stores, and what brings and names Holdfast."""
        return {
            name: value
            for name, value in sorted(self.settings.items())
            if name in _SHOWN or name.startswith(_OF_STORES)
        }

    @property
    def in_cluster(self) -> bool:
        """Whether the session has executors."""
        master = self.settings.get(MASTER) or os.environ.get("MASTER") or "local[*]"
        return not master.startswith("local") or master.startswith(_CLUSTER_ON_THIS_MACHINE)


def active_session() -> SparkSession | None:
    """Return the session that is active here, if any."""
    from pyspark.sql import SparkSession

    try:
        return SparkSession.getActiveSession()
    except ImportError:  # a Spark Connect client that lacks a package cannot have one
        return None


def settings_of_session(session: SparkSession) -> SessionSettings:
    """Return what a session has."""
    of_connect = _jvm.is_of_connect(session)
    found: dict[str, str] = {} if of_connect else dict(session.sparkContext.getConf().getAll())
    now: Mapping[str, str] | None = getattr(session.conf, "getAll", None)
    if now is None:  # before pyspark 4.0
        now = {row["key"]: row["value"] for row in session.sql("SET").collect()}
    return SessionSettings(
        settings={**found, **now},
        sources=("the Spark Connect server" if of_connect else "the active session",),
        running=session.version,
        of_connect=of_connect,
    )


def settings_before(home: Path) -> SessionSettings:
    """Return what a session would have that is made now, without what its builder is told.

    Args:
        home: the Spark distribution that will be started.

    Raises:
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS cannot be read.
    """
    if jvm := _jvm.running_jvm():
        from pyspark import SparkConf

        return SessionSettings(
            settings=dict(SparkConf().getAll()),
            sources=("the running JVM",),
            running=_jvm.spark_version(jvm),
        )
    files = _launch_settings.properties_files(home)
    sources = [str(file) for file in files if file.is_file()]
    if _launch_settings.SUBMIT_ARGUMENTS in os.environ:
        sources.append(_launch_settings.SUBMIT_ARGUMENTS)
    return SessionSettings(
        settings=_launch_settings.launch_settings(home),
        sources=tuple(sources),
        in_files={str(file): _launch_settings.read_properties(file) for file in files},
    )

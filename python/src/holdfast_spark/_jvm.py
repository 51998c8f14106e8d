"""The one place that reaches Spark's JVM through py4j.

The functions may be called from any thread that may use the Spark session: py4j gives each
thread its own connection.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol, cast

from holdfast_spark._artifacts import BUILD, artifact_of
from holdfast_spark._jars import spark_line
from holdfast_spark.errors import (
    JarNotOnClassPathError,
    NoActiveSessionError,
    SparkConnectError,
    WrongArgumentError,
    WrongSparkLineError,
)

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject, JVMView
    from pyspark.sql import SparkSession


class PythonBridge(Protocol):
    """The static methods of the Scala object `io.holdfast.PythonBridge`."""

    def version(self) -> str: ...

    def loadedStores(self) -> str: ...  # noqa: N802


class StoreRows(Protocol):
    """The static methods of the Scala object `io.holdfast.StoreRows`."""

    def read(self, store: str, records: str) -> int: ...

    def write(self, store: str, records: str) -> int: ...


def is_of_connect(found: object) -> bool:
    """Tell whether a session or a builder is one of Spark Connect."""
    return type(found).__module__.startswith("pyspark.sql.connect")


def running_jvm() -> JVMView | None:
    """Return the view of the JVM that this Python process has or was started with, if any.

    `spark-submit` starts the JVM before Python; a notebook that stopped its session keeps it.
    """
    from pyspark import SparkContext

    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
    return SparkContext._jvm


def session_bridge(spark: SparkSession | None) -> PythonBridge:
    """Return the bridge in the JVM of a session, or of the active session for None.

    Raises:
        NoActiveSessionError: `spark` is None and no session is active.
        WrongArgumentError: `spark` is no session.
        SparkConnectError: the session is a Spark Connect client.
        JarNotOnClassPathError: the JVM has no Holdfast jar.
        WrongSparkLineError: the JVM's Holdfast jar is for another Spark line.
    """
    from pyspark.sql import SparkSession as ClassicSession

    session: object = spark or ClassicSession.getActiveSession()
    if session is None:
        raise NoActiveSessionError
    if not isinstance(session, ClassicSession):
        if not is_of_connect(session):
            raise WrongArgumentError(
                function="metrics.store_metrics",
                expected="a Spark session, or nothing for the active one",
                found=session,
            )
        raise SparkConnectError(
            "A Spark Connect client has no JVM to ask: read the metrics from the progress of the "
            "query with holdfast_spark.metrics.progress_metrics(query)."
        )
    return bridge(session._jvm)


def master_with_executors(spark: SparkSession | None) -> str | None:
    """Return the master URL of a session, or of the active one for None, if it has executors.

    In local mode the driver runs the tasks, and the answer is None.
    """
    from pyspark.sql import SparkSession as ClassicSession

    session = spark or ClassicSession.getActiveSession()
    if session is None:
        return None
    context = session.sparkContext
    return None if context._jsc.sc().isLocal() else str(context.master)


def store_rows(spark: SparkSession) -> StoreRows:
    """Return what reads and writes state stores by Spark's providers, in the JVM of a session.

    Raises:
        SparkConnectError: the session is a Spark Connect client.
        JarNotOnClassPathError: the JVM has no Holdfast jar.
        WrongSparkLineError: the JVM's Holdfast jar is for another Spark line.
    """
    session_bridge(spark)
    jvm: Any = spark._jvm
    return cast(StoreRows, jvm.io.holdfast.StoreRows)


def spark_version(jvm: JVMView) -> str:
    """Return the version of the Spark that a JVM runs."""
    spark_package = getattr(getattr(jvm, "org.apache.spark.package$"), "MODULE$")
    return str(spark_package.SPARK_VERSION())


def has_bridge(jvm: JVMView) -> bool:
    """Tell whether a JVM has a Holdfast jar on its class path."""
    from py4j.java_gateway import JavaClass

    return isinstance(jvm.io.holdfast.PythonBridge, JavaClass)


def bridge(jvm: JVMView) -> PythonBridge:
    """Return the bridge in a JVM, after a check that its jar fits the Spark that runs there.

    Raises:
        JarNotOnClassPathError: the JVM has no Holdfast jar.
        WrongSparkLineError: the JVM's Holdfast jar is for another Spark line.
    """
    running = spark_line(spark_version(jvm))
    if not has_bridge(jvm):
        raise JarNotOnClassPathError(line=running)
    line = _line(jvm)
    if line != running:
        raise WrongSparkLineError(
            jar="The Holdfast jar on the class path",
            built_for=line,
            running=running,
            fitting=next((jar for jar in _jars(jvm) if _line_of(jar) == running), None),
        )
    return cast(PythonBridge, jvm.io.holdfast.PythonBridge)


def _line(jvm: JVMView) -> str:
    """Return the line of the jar in use.

    No class of it is asked: those of another line may need some that this Spark has not.
    """
    build = jvm.java.util.Properties()
    file = _class_loader(jvm).getResourceAsStream(BUILD)
    try:
        build.load(file)
    finally:
        file.close()
    return str(build.getProperty("sparkLine"))


def _line_of(jar: str) -> str | None:
    artifact = artifact_of(jar)
    return artifact.line if artifact else None


def _class_loader(jvm: JVMView) -> JavaObject:
    return jvm.java.lang.Thread.currentThread().getContextClassLoader()


def _jars(jvm: JVMView) -> list[str]:
    """Return the Holdfast jars on the class path of a JVM, the one in use first."""
    files = _class_loader(jvm).getResources(BUILD)
    found = []
    while files.hasMoreElements():
        jar = files.nextElement().getPath().partition("!")[0]
        found.append(jar.removeprefix("file:"))
    return found

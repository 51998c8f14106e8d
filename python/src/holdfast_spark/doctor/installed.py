"""What is installed here: pyspark and Java."""

from __future__ import annotations

import importlib.util
import os
from importlib.metadata import packages_distributions
from pathlib import Path

from holdfast_spark import _launch_settings
from holdfast_spark._jars import installed_spark_version, spark_line
from holdfast_spark._java import JavaFound, find_java, lacks_module
from holdfast_spark._programs import SECONDS_TO_ANSWER
from holdfast_spark._spark_versions import SparkFound, same_release, vendor_of
from holdfast_spark.doctor.diagnosis import Finding, PysparkFound, stop, warning
from holdfast_spark.errors import NoJavaError


def find_pyspark() -> PysparkFound:
    """Return the pyspark that this Python imports.

    Raises:
        PySparkNotInstalledError: there is none.
    """
    version = installed_spark_version()
    import pyspark

    return PysparkFound(
        version=version,
        packages=tuple(sorted(set(packages_distributions().get("pyspark", ())))),
        folder=str(Path(pyspark.__file__).parent),
        vendor=vendor_of(version),
        client_only=_is_client_only(),
    )


def _is_client_only() -> bool:
    try:
        from pyspark.util import is_remote_only
    except ImportError:  # before pyspark 4.0
        return importlib.util.find_spec("pyspark.context") is None
    return is_remote_only()


def vendor_findings(pyspark: PysparkFound, spark: SparkFound | None) -> list[Finding]:
    """Return what there is to say of a Spark that is not Apache's."""
    vendor = (spark and spark.vendor) or pyspark.vendor
    if vendor is None:
        return []
    version = (spark and spark.version) or pyspark.version
    return [
        warning(
            "pyspark",
            f"This is Spark {version} of {vendor}: Holdfast is built and tested with that of "
            "Apache, and does not know what is different. Run holdfast demo here, and a copy of a "
            "query, before you rely on it.",
        )
    ]


def home_findings(pyspark: PysparkFound, spark: SparkFound) -> list[Finding]:
    """Return what there is to say of a Spark that pyspark starts and is not its own.

    `configure` refuses one of another line.
    """
    if (
        "SPARK_HOME" not in os.environ
        or spark.version is None
        or spark_line(spark.version) != spark_line(pyspark.version)
        or same_release(spark.version, pyspark.version)
    ):
        return []
    return [
        warning(
            "pyspark",
            f"SPARK_HOME is {spark.home}, which is Spark {spark.version}, and the installed "
            f"pyspark is {pyspark.version}: Spark does not test the two together. Unset "
            "SPARK_HOME, or use the pyspark of that Spark.",
        )
    ]


def java_findings(
    line: str, home: Path, *, seconds: float = SECONDS_TO_ANSWER
) -> tuple[JavaFound | None, list[Finding]]:
    """Return the Java that starts Spark, and what is wrong with it.

    Args:
        line: the Spark line.
        home: the Spark distribution.
        seconds: how long it may take to answer.
    """
    try:
        java = find_java(line, _launch_settings.conf_folder(home), seconds=seconds)
        module = lacks_module(java, line, seconds=seconds)
    except NoJavaError as e:
        return None, [stop("Java", str(e))]
    if not module:
        return java, []
    sentence = (
        f"{java.path} has no module {module}, which Spark starts Java with: install a whole Java "
        "Development Kit and point JAVA_HOME at it."
    )
    return java, [stop("Java", sentence)]

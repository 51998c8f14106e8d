"""The Spark sessions of the demo."""

from __future__ import annotations

from pyspark.sql import SparkSession

from holdfast_spark.demo.plan import Layout

# Two stateful operators with this many state stores each. A demo batch is small: more partitions
# would measure the start of tasks.
SHUFFLE_PARTITIONS = 4

# A run is over before Spark's maintenance would first look for snapshots to write, after a minute.
MAINTENANCE_INTERVAL = "2s"

# What the JVM's second compiler takes from a few cores it does not give back in a few seconds.
BRIEF_JVM = "-XX:TieredStopAtLevel=1"


def builder(layout: Layout, *, brief: bool) -> SparkSession.Builder:
    """Return the builder of a local session that leaves no files outside the work folder.

    Args:
        layout: the work folder.
        brief: whether the driver will be through in seconds.
    """
    temporary_files = f'-Djava.io.tmpdir="{layout.scratch}"'
    java_options = f"{temporary_files} {BRIEF_JVM}" if brief else temporary_files
    return (
        SparkSession.Builder()
        .appName("holdfast demo")
        .master("local[*]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", java_options)
        .config("spark.local.dir", str(layout.scratch))
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", SHUFFLE_PARTITIONS)
        .config("spark.sql.streaming.stateStore.maintenanceInterval", MAINTENANCE_INTERVAL)
        .config("spark.sql.warehouse.dir", f"file://{layout.scratch}/warehouse")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )

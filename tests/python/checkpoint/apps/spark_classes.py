"""Names of Spark's classes that differ between lines."""

from __future__ import annotations

import pyspark

SPARK = tuple(int(part) for part in pyspark.__version__.split(".")[:2])

# Spark's default file manager starts some ten processes for every file on a local disk; this one
# starts none. Spark 4.1 moved both.
FILE_MANAGER = (
    f"org.apache.spark.sql.execution.streaming.{'checkpointing.' if SPARK >= (4, 1) else ''}"
    "FileSystemBasedCheckpointFileManager"
)

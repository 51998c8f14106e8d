"""Checkpoints of streaming queries, read without Spark and without a JVM."""

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError

__all__ = ["Checkpoint", "CheckpointError"]

"""Checkpoints of streaming queries, read without Spark and without a JVM."""

from holdfast.checkpoint.checkpoint import Checkpoint
from holdfast.checkpoint.errors import CheckpointError

__all__ = ["Checkpoint", "CheckpointError"]

"""Holdfast: a state store for Spark Structured Streaming."""

from holdfast_spark import metrics
from holdfast_spark._version import __version__
from holdfast_spark.errors import HoldfastError
from holdfast_spark.session import configure

__all__ = ["HoldfastError", "__version__", "configure", "metrics"]

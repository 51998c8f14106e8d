"""Holdfast: a state store for Spark Structured Streaming."""

from holdfast._version import __version__
from holdfast.errors import HoldfastError
from holdfast.session import configure

__all__ = ["HoldfastError", "__version__", "configure"]

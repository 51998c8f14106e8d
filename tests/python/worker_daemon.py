"""What starts Python workers for Spark, as `pyspark.daemon`, with pandas and pyarrow in it already.

Each worker is a fork of it. Most of what a worker does for the few rows of a test is to import
these two.
"""

from __future__ import annotations

import contextlib
from importlib import import_module

from pyspark.daemon import manager

# An environment may lack them, and then no query in it needs them.
with contextlib.suppress(ImportError):
    import_module("pandas")
    import_module("pyarrow")

if __name__ == "__main__":
    manager()

"""The stores that Spark has in the memory of a driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast_spark._jars import installed_spark_line, is_before

if TYPE_CHECKING:
    from py4j.java_gateway import JVMView

# The first Spark whose `stop` alone waits for minutes, with a lock that maintenance may want, and
# that has something else to be called first.
_WITH_LOCK = "4.1"


def let_go(jvm: JVMView | None) -> None:
    """End the maintenance of all stores, and let go of them, as the end of the process would."""
    gateway: Any = jvm
    state = gateway.org.apache.spark.sql.execution.streaming.state
    stores = getattr(getattr(state, "StateStore$"), "MODULE$")
    if not is_before(installed_spark_line(), _WITH_LOCK):
        stores.stopMaintenanceTaskWithoutLock()
    stores.stop()

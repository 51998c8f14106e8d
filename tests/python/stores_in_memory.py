"""The stores that Spark has in the memory of a driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast_spark._jars import installed_spark_line, is_before

if TYPE_CHECKING:
    from py4j.java_gateway import JVMView

# From it on `stop` waits for maintenance, for minutes, with a lock that maintenance may want.
_WAITS = "4.0"
# From it on Spark has something to be called first, without the lock.
_WITHOUT_LOCK = "4.1"


def let_go(jvm: JVMView | None) -> None:
    """End the maintenance of all stores, and let go of them, as the end of the process would."""
    gateway: Any = jvm
    state = gateway.org.apache.spark.sql.execution.streaming.state
    stores = getattr(getattr(state, "StateStore$"), "MODULE$")
    line = installed_spark_line()
    if not is_before(line, _WITHOUT_LOCK):
        stores.stopMaintenanceTaskWithoutLock()
    elif not is_before(line, _WAITS):
        _end_maintenance(stores)
    stores.stop()


def _end_maintenance(stores: Any) -> None:  # noqa: ANN401 - as py4j has it
    threads = stores.getClass().getDeclaredField("maintenanceThreadPool")
    threads.setAccessible(True)
    pool = threads.get(stores)
    if pool is not None:
        pool.stop()

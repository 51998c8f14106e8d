"""Names of Spark's settings that Holdfast is switched on by, and lists in their values."""

from __future__ import annotations

from collections.abc import Mapping

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
PLUGINS = "spark.plugins"
EXTENSIONS = "spark.sql.extensions"
FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
CODEC = "spark.sql.streaming.stateStore.compression.codec"
CHARTS = "spark.sql.streaming.ui.enabledCustomMetricList"
JARS = "spark.jars"
PACKAGES = "spark.jars.packages"
DRIVER_CLASS_PATH = "spark.driver.extraClassPath"
EXECUTOR_CLASS_PATH = "spark.executor.extraClassPath"
MASTER = "spark.master"
DRIVER_MEMORY = "spark.driver.memory"
EXECUTOR_MEMORY = "spark.executor.memory"

PROVIDER_CLASS = "io.holdfast.HoldfastStateStoreProvider"
FILE_MANAGER_CLASS = "io.holdfast.HoldfastCheckpointFileManager"

# What Spark reads when it starts, and not of a session that runs.
START_SETTINGS: Mapping[str, str] = {
    PLUGINS: "io.holdfast.HoldfastPlugin",
    EXTENSIONS: "io.holdfast.HoldfastExtensions",
}
# The names of Holdfast's own settings begin with it; these are all of them (docs/settings.md).
OWN = "spark.sql.streaming.stateStore.holdfast."
MEMORY_LIMIT = f"{OWN}memoryLimit"
EVICTION_HINTS = f"{OWN}evictionHints"
REAL_TIME_MODE = f"{OWN}realTimeMode"
OWN_SETTINGS = (MEMORY_LIMIT, EVICTION_HINTS, REAL_TIME_MODE)

# The first Spark line with real-time mode for queries with state.
FIRST_REAL_TIME_LINE = "4.3"


def is_real_time(settings: Mapping[str, str]) -> bool:
    """Tell whether settings give Holdfast to new queries without the provider class."""
    return settings.get(REAL_TIME_MODE, "").strip().lower() == "true"


def names(value: str | None) -> list[str]:
    """Return the names in a list separated by commas."""
    return [name.strip() for name in (value or "").split(",") if name.strip()]


def appended(value: str | None, *more: str) -> str:
    """Append names to a list separated by commas, unless they are in it."""
    return ",".join(dict.fromkeys([*names(value), *more]))

"""The stateful operators whose stores are known: names of checkpoints, and names of people."""

from __future__ import annotations

from collections.abc import Mapping

AGGREGATION = "stateStoreSave"
SESSIONS = "sessionWindowStateStoreSaveExec"
DEDUPE = "dedupe"
DEDUPE_WITHIN_WATERMARK = "dedupeWithinWatermark"
GROUPS = "flatMapGroupsWithState"
GROUPS_IN_PANDAS = "applyInPandasWithState"
JOIN = "symmetricHashJoin"
LIMIT = "globalLimit"
TRANSFORM = "transformWithStateExec"

# What these keep for a key is the same in every query.
WITHOUT_VALUE = (DEDUPE, DEDUPE_WITHIN_WATERMARK, LIMIT)
# These may keep several rows for a key.
WITH_MANY_ROWS = (SESSIONS, JOIN, TRANSFORM)
# Their state is in column families, which Spark's default provider has not.
IN_COLUMN_FAMILIES = (TRANSFORM,)

# What people call an operator, by the name that its checkpoints and progress have.
PLAIN_NAMES: Mapping[str, str] = {
    AGGREGATION: "aggregation",
    SESSIONS: "session-windows",
    DEDUPE: "deduplication",
    DEDUPE_WITHIN_WATERMARK: "deduplication-within-watermark",
    GROUPS: "map-groups-with-state",
    GROUPS_IN_PANDAS: "apply-in-pandas-with-state",
    JOIN: "join",
    LIMIT: "limit",
    TRANSFORM: "transform-with-state",
}
# What else Spark calls them, in its interface for queries and in its plans (Spark 4.3).
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    # In real-time mode it is another operator, with the same state.
    AGGREGATION: ("aggregate", "stateStoreRestore", "StatefulStreamlineAggregate"),
    SESSIONS: ("sessions", "sessionWindow"),
    DEDUPE: ("deduplicate", "dropDuplicates"),
    DEDUPE_WITHIN_WATERMARK: ("deduplicateWithinWatermark", "dropDuplicatesWithinWatermark"),
    GROUPS: (),
    GROUPS_IN_PANDAS: ("flatMapGroupsInPandasWithState",),
    JOIN: ("streamStreamJoin",),
    LIMIT: (),
    TRANSFORM: ("transformWithStateInPandas", "transformWithStateInPySpark"),
}


def spark_name(name: str) -> str | None:
    """Return the name that checkpoints have of an operator; None for an unknown one.

    Args:
        name: any name of it: of `PLAIN_NAMES`, of a checkpoint, a query's progress or a plan. Upper
            and lower case, hyphens, `Streaming` before it and `Exec` behind it make no difference.
    """
    return _SPARK_NAMES.get(_essence(name))


def is_join(name: str) -> bool:
    """Tell whether an operator joins two streams.

    Args:
        name: as for `spark_name`.
    """
    return spark_name(name) == JOIN


def is_transform(name: str) -> bool:
    """Tell whether an operator is `transformWithState`, in Scala or in Python.

    Args:
        name: as for `spark_name`, or one that begins as all of them do in checkpoints.
    """
    return name.startswith("transformWithState") or spark_name(name) == TRANSFORM


def plain_name(name: str) -> str:
    """Return what people call an operator, and for an unknown one the name as it is.

    Args:
        name: the name that checkpoints have of it.
    """
    return PLAIN_NAMES.get(spark_name(name) or name, name)


def both_names(name: str) -> str:
    """Return what people call an operator with Spark's name behind it, as far as they differ.

    Args:
        name: the name that checkpoints have of it.
    """
    plain = plain_name(name)
    return name if plain == name else f"{plain} ({name})"


def _essence(name: str) -> str:
    letters = "".join(filter(str.isalnum, name)).casefold()
    return letters.removeprefix("streaming").removesuffix("exec")


_SPARK_NAMES: Mapping[str, str] = {
    _essence(name): operator
    for operator, plain in PLAIN_NAMES.items()
    for name in (operator, plain, *_OTHER_NAMES[operator])
}

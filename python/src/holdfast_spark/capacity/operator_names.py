"""The stateful operators whose stores are known, by the names that checkpoints have."""

from __future__ import annotations

AGGREGATION = "stateStoreSave"
SESSIONS = "sessionWindowStateStoreSaveExec"
DEDUPE = "dedupe"
DEDUPE_WITHIN_WATERMARK = "dedupeWithinWatermark"
GROUPS = "flatMapGroupsWithState"
GROUPS_IN_PANDAS = "applyInPandasWithState"
JOIN = "symmetricHashJoin"
LIMIT = "globalLimit"
TRANSFORM = "transformWithStateExec"

OPERATORS = (
    *(AGGREGATION, SESSIONS, DEDUPE, DEDUPE_WITHIN_WATERMARK),
    *(GROUPS, GROUPS_IN_PANDAS, JOIN, LIMIT, TRANSFORM),
)
# What these keep for a key is the same in every query.
WITHOUT_VALUE = (DEDUPE, DEDUPE_WITHIN_WATERMARK, LIMIT)
# These may keep several rows for a key.
WITH_MANY_ROWS = (SESSIONS, JOIN, TRANSFORM)
# Their column families no other provider has.
ROCKSDB_ONLY = (TRANSFORM,)

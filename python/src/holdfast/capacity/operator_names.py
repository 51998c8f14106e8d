"""The stateful operators whose stores are known, by the names that checkpoints have."""

from __future__ import annotations

AGGREGATION = "stateStoreSave"
DEDUPE = "dedupe"
DEDUPE_WITHIN_WATERMARK = "dedupeWithinWatermark"
GROUPS = "flatMapGroupsWithState"
JOIN = "symmetricHashJoin"

OPERATORS = (AGGREGATION, DEDUPE, DEDUPE_WITHIN_WATERMARK, GROUPS, JOIN)
# What these keep for a key is the same in every query.
WITHOUT_VALUE = (DEDUPE, DEDUPE_WITHIN_WATERMARK)

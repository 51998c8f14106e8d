"""How much of a heap state may take."""

# The default of `spark.sql.streaming.stateStore.holdfast.memoryLimit` (docs/settings.md): a batch
# that would take more fails. It comes before an OutOfMemoryError, as measured (jvm/DESIGN.md).
SHARE_OF_HEAP = 0.5

# With more than this memory may end first: from 80 % on it did, as measured (jvm/DESIGN.md).
NEARLY_ALL_OF_HEAP = 0.8

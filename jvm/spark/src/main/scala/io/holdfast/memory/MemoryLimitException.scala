package io.holdfast.memory

import io.holdfast.conf.HoldfastConf

/** State does not fit into what [[HoldfastConf.MemoryLimit]] allows. */
final class MemoryLimitException(
    store: String,
    versions: Long,
    transaction: Long,
    total: Long,
    limit: Long)
    extends RuntimeException(
      s"$store holds ${MemoryLimitException.mib(versions)} of versions in memory and needs " +
        s"${MemoryLimitException.mib(transaction)} for the next one; with it, the stores of this " +
        s"executor would hold ${MemoryLimitException.mib(total)}, and " +
        s"${HoldfastConf.MemoryLimit.name} allows ${MemoryLimitException.mib(limit)}. Give the " +
        "executors more memory or the query more executors, raise the limit, or keep less state, " +
        "such as with a shorter watermark delay")

private object MemoryLimitException {
  private def mib(bytes: Long): String = f"${bytes / 1048576.0}%.1f MiB"
}

package io.holdfast.memory

/** State does not fit into what [[io.holdfast.conf.HoldfastConf.MemoryLimit]] allows. */
final class MemoryLimitException(
    store: String,
    versions: Long,
    transaction: Long,
    total: Long,
    limit: MemoryLimit)
    extends RuntimeException(s"$store holds ${ByteSize(versions)} of versions in memory and needs " +
      s"${ByteSize(transaction)} for the next one; with it, the stores of this executor would hold " +
      s"${ByteSize(total)}, and ${limit.describe}. Give " +
      "the executors more memory or the query more executors, raise the limit, or keep less " +
      "state, such as with a shorter watermark delay")

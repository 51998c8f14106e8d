package io.holdfast.store

import java.util.WeakHashMap
import java.util.concurrent.atomic.AtomicLong
import javax.annotation.concurrent.GuardedBy

/** The stores that are open in this JVM, for the metrics that Python reads and for their memory. Any
  * thread may call.
  *
  * A provider may be dropped and never closed: who reads the state of a join makes two, and closes
  * neither if the second one cannot load (`SymmetricHashJoinStateManagerBase`, Spark 4.2). So none is
  * held here, and one that is garbage no longer counts.
  */
private[holdfast] object OpenStores {
  // Each with its number, in the order in which they were opened.
  @GuardedBy("this") private val stores = new WeakHashMap[StoreParts, Long]
  @GuardedBy("this") private var opened = 0L

  def add(store: StoreParts): Unit = {
    synchronized {
      opened += 1
      stores.put(store, opened)
    }
    store.memory.endWith(store)
  }

  def remove(store: StoreParts): Unit = {
    synchronized(stores.remove(store))
    ()
  }

  /** Has the stores that hold a part of those bytes forget what they hold, if the runs of their queries
    * are over. Spark keeps such stores until its next maintenance, and a query that is started anew in the
    * meantime needs the same room once more.
    */
  def forgetEnded(heldBytes: AtomicLong): Unit =
    all
      .filter(_.surroundings.heldBytes eq heldBytes)
      .sortBy(_.context.toString)
      .foreach(_.forgetIfEnded())

  /** The stores of later runs of the same query in this executor. */
  def ofLaterRuns(store: StoreParts): Seq[StoreParts] = synchronized {
    val number = stores.get(store)
    all.filter(other => stores.get(other) > number && isOfAnotherRun(store, other))
  }

  private def isOfAnotherRun(store: StoreParts, other: StoreParts): Boolean = {
    val (one, another) = (store.context.providerId, other.context.providerId)
    one.queryRunId != another.queryRunId &&
    one.storeId.checkpointRootLocation == another.storeId.checkpointRootLocation &&
    (store.surroundings.heldBytes eq other.surroundings.heldBytes)
  }

  def all: Seq[StoreParts] = synchronized {
    stores.keySet.toArray(Array.empty[StoreParts]).toSeq
  }
}

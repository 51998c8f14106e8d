package io.holdfast.store

import java.util.{Collections, WeakHashMap}
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
  @GuardedBy("this") private val stores =
    Collections.newSetFromMap(new WeakHashMap[StoreParts, java.lang.Boolean])

  def add(store: StoreParts): Unit = {
    synchronized(stores.add(store))
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

  def all: Seq[StoreParts] = synchronized {
    stores.toArray(Array.empty[StoreParts]).toSeq
  }
}

package io.holdfast.store

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId

/** The stores that other stores of the same task look into: those of the values of a stream-stream
  * join. Attempts at a task, speculative ones among them, are tasks of their own. Any thread may call.
  */
private[holdfast] object StoresOfTask {
  private val stores = new ConcurrentHashMap[Key, HoldfastStateStore]

  /** Makes a store known until its task ends. */
  def add(task: TaskContext, id: StateStoreProviderId, store: HoldfastStateStore): Unit = {
    val key = Key(task, id)
    stores.put(key, store)
    val _ = task.addTaskCompletionListener[Unit] { _ =>
      stores.remove(key)
      ()
    }
  }

  /** A store that was made known in a task. */
  def find(task: TaskContext, id: StateStoreProviderId): Option[HoldfastStateStore] =
    Option(stores.get(Key(task, id)))

  // A task's context is equal to itself alone.
  final private case class Key(task: TaskContext, store: StateStoreProviderId)
}

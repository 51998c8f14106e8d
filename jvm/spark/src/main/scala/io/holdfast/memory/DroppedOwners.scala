package io.holdfast.memory

import java.lang.ref.{PhantomReference, ReferenceQueue}
import java.util.concurrent.ConcurrentHashMap

import scala.annotation.tailrec

/** Gives back what stores count whose owner has become garbage and was never closed. It has no thread,
  * which there may be none for: whoever counts memory looks. Any thread may call.
  */
private[memory] object DroppedOwners {
  private val garbage = new ReferenceQueue[AnyRef]

  // A reference has to stay for as long as what it refers to.
  private val watched = ConcurrentHashMap.newKeySet[Owner]()

  /** Watches the owner of a store's memory, which must not be known to that memory. */
  def watch(owner: AnyRef, memory: StoreMemory): Unit = {
    watched.add(new Owner(owner, memory))
    ()
  }

  /** Closes the memory of all owners that are garbage by now. */
  @tailrec
  def giveBack(): Unit = garbage.poll() match {
    case owner: Owner =>
      watched.remove(owner)
      owner.memory.close()
      giveBack()
    case _ =>
  }

  final private class Owner(owner: AnyRef, val memory: StoreMemory)
      extends PhantomReference[AnyRef](owner, garbage)
}

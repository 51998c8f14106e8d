package io.holdfast.store

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

/** The stores that are open in this JVM, for the metrics that Python reads. Any thread may call. */
private[holdfast] object OpenStores {
  private val stores = ConcurrentHashMap.newKeySet[StoreParts]()

  def add(store: StoreParts): Unit = {
    stores.add(store)
    ()
  }

  def remove(store: StoreParts): Unit = {
    stores.remove(store)
    ()
  }

  def all: Seq[StoreParts] = stores.asScala.toSeq
}

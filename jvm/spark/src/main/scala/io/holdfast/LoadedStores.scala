package io.holdfast

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

/** The providers that are open in this JVM, for the metrics that Python reads. Any thread may call. */
private[holdfast] object LoadedStores {
  private val providers = ConcurrentHashMap.newKeySet[HoldfastStateStoreProvider]()

  def add(provider: HoldfastStateStoreProvider): Unit = {
    providers.add(provider)
    ()
  }

  def remove(provider: HoldfastStateStoreProvider): Unit = {
    providers.remove(provider)
    ()
  }

  def all: Seq[HoldfastStateStoreProvider] = providers.asScala.toSeq
}

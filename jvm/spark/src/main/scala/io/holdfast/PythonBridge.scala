package io.holdfast

import org.json4s.JsonAST.{JArray, JLong, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{compact, render}

import io.holdfast.session.BuildInfo
import io.holdfast.store.{OpenStores, StoreParts}

/** What Python calls through py4j: numbers and strings only, structures as JSON. Any thread may call. */
object PythonBridge {

  /** Version of Holdfast. */
  def version(): String = BuildInfo.current.version

  /** The stores that are open in this JVM, as a JSON array of objects: which store, which versions
    * it holds in memory, and its counters. In local mode these are all stores; in a cluster the
    * driver has none and the query's progress has the numbers.
    */
  def loadedStores(): String = compact(render(JArray(OpenStores.all.map(describe).toList)))

  private def describe(store: StoreParts): JValue = {
    val context = store.context
    val latest = store.inMemory.latest.map(_._2)
    JObject(
      "checkpointLocation" -> JString(context.id.checkpointRootLocation),
      "operatorId" -> JLong(context.id.operatorId),
      "partitionId" -> JLong(context.id.partitionId.toLong),
      "storeName" -> JString(context.id.storeName),
      "queryRunId" -> JString(context.providerId.queryRunId.toString),
      "versionsInMemory" -> JArray(store.inMemory.numbers.map(JLong(_)).toList),
      "numKeys" -> JLong(latest.fold(0L)(context.keyCount)),
      "memoryUsedBytes" -> JLong(store.metrics.memoryUsedBytes),
      "liveBytes" -> JLong(latest.fold(0L)(_.liveBytes)),
      "heldBytes" -> JLong(latest.fold(0L)(_.heldBytes)),
      "customMetrics" -> JObject(store.metrics.counters.map { case (name, value) =>
        name -> JLong(value)
      }.toList))
  }
}

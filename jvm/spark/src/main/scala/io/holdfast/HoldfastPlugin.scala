package io.holdfast

import java.util.{Collections, Map => JavaMap}

import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}

import io.holdfast.session.JarCheck

/** Says at the start of the driver and of every executor whether the jar fits the Spark there, before
  * any query meets it: set `spark.plugins` to this class. Does nothing else.
  */
final class HoldfastPlugin extends SparkPlugin {

  override def driverPlugin(): DriverPlugin = new DriverPlugin {
    override def init(
        sparkContext: SparkContext,
        pluginContext: PluginContext): JavaMap[String, String] = {
      JarCheck.check()
      JarCheck.warnOfOthers()
      Collections.emptyMap[String, String]()
    }
  }

  override def executorPlugin(): ExecutorPlugin = new ExecutorPlugin {
    override def init(pluginContext: PluginContext, extraConf: JavaMap[String, String]): Unit =
      JarCheck.check()
  }
}

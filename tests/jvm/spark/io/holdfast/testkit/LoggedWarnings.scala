package io.holdfast.testkit

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{Configurator, Property}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}

/** What a class says in the log. */
object LoggedWarnings {

  /** Runs something; returns what the class said meanwhile at WARN and above, in order. */
  def of(speaker: Class[_])(body: => Any): Seq[String] = of(speaker, Level.WARN)(body)

  /** The same at a level and above. */
  def of(speaker: Class[_], level: Level)(body: => Any): Seq[String] = {
    val name = speaker.getName
    val logger = LogManager.getLogger(name).asInstanceOf[Logger]
    val before = logger.getLevel
    val said = new ConcurrentLinkedQueue[String]
    val appender = new AbstractAppender(s"said by $name", null, null, false, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit =
        if (event.getLevel.isMoreSpecificThan(level)) {
          said.add(event.getMessage.getFormattedMessage)
          ()
        }
    }
    appender.start()
    Configurator.setLevel(name, level)
    logger.addAppender(appender)
    try body
    finally {
      logger.removeAppender(appender)
      Configurator.setLevel(name, before)
      appender.stop()
    }
    said.asScala.toSeq
  }
}

package io.holdfast.testkit

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{Configurator, Property}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}

/** What a class says in the log at WARN and above. */
object LoggedWarnings {

  /** Runs something; returns what the class said meanwhile, in order. */
  def of(speaker: Class[_])(body: => Any): Seq[String] = {
    val name = speaker.getName
    val logger = LogManager.getLogger(name).asInstanceOf[Logger]
    val before = logger.getLevel
    val said = new ConcurrentLinkedQueue[String]
    val appender = new AbstractAppender(s"said by $name", null, null, false, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit =
        if (event.getLevel.isMoreSpecificThan(Level.WARN)) {
          said.add(event.getMessage.getFormattedMessage)
          ()
        }
    }
    appender.start()
    Configurator.setLevel(name, Level.WARN)
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

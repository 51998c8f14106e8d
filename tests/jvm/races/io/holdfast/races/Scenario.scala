package io.holdfast.races

import java.util

import scala.jdk.CollectionConverters._

import org.jetbrains.kotlinx.lincheck.Actor
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario
import org.jetbrains.lincheck.datastructures.Validate

import io.holdfast.races.Scenario.Call

/** Calls that come together: those of two threads, and those before and after them. */
final case class Scenario(
    before: Seq[Call] = Nil,
    first: Seq[Call],
    second: Seq[Call],
    after: Seq[Call] = Nil) {

  /** The same for Lincheck.
    *
    * @param operations
    *   the class that has them
    */
  def of(operations: Class[_]): ExecutionScenario = {
    def actors(calls: Seq[Call]): util.List[Actor] = calls.map { call =>
      val method = operations.getMethods
        .find(_.getName == call.operation)
        .getOrElse(throw new NoSuchMethodException(s"${operations.getName}.${call.operation}"))
      new Actor(method, call.arguments.asJava)
    }.asJava
    val validation = operations.getMethods
      .find(_.isAnnotationPresent(classOf[Validate]))
      .map(new Actor(_, util.List.of[Object]()))
    new ExecutionScenario(
      actors(before),
      util.List.of(actors(first), actors(second)),
      actors(after),
      validation.orNull)
  }
}

object Scenario {
  final case class Call(operation: String, arguments: Seq[Object])

  def call(operation: String, arguments: Any*): Call =
    Call(operation, arguments.map(_.asInstanceOf[Object]))
}

package io.holdfast.file

import scala.util.control.NonFatal

/** Closes what was used, however that ended. */
private[holdfast] object Closing {

  /** Uses a resource and closes it. If both fail, the failure of its use is thrown, and knows the other
    * one.
    */
  def after[R <: AutoCloseable, A](resource: R)(use: R => A): A = {
    val result =
      try use(resource)
      catch {
        case e: Throwable =>
          try resource.close()
          catch { case NonFatal(other) => e.addSuppressed(other) }
          throw e
      }
    resource.close()
    result
  }
}

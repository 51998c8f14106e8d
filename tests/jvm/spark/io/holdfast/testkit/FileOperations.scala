package io.holdfast.testkit

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

/** What a checkpoint file manager does with a file.
  *
  * @param kind
  *   what it does
  * @param file
  *   the name of the file or folder
  */
final case class FileOperation(kind: FileOperation.Kind, file: String)

object FileOperation {
  sealed trait Kind
  case object Create extends Kind

  /** A part of a file that is being created. */
  case object Write extends Kind

  /** Makes a created file appear under its name. */
  case object Finish extends Kind
  case object Cancel extends Kind
  case object Open extends Kind

  /** A part of an open file. */
  case object Read extends Kind
  case object ListFolder extends Kind
  case object MakeFolder extends Kind
  case object Exists extends Kind
  case object Delete extends Kind
}

/** Lets a test watch what [[WatchedFileManager]]s do, hold them up, and make them fail. Any thread
  * may call.
  */
trait FileOperations {

  /** Carries an operation out: calls `proceed` once, or throws in its place or after it. */
  def around[A](operation: FileOperation)(proceed: => A): A

  /** What settings know it by. */
  final val name: String = UUID.randomUUID().toString

  FileOperations.byName.put(name, this)
}

object FileOperations {

  /** Hadoop setting that names the operations of a file manager. */
  val Setting = "holdfast.test.fileOperations"

  private val byName = new ConcurrentHashMap[String, FileOperations]

  def apply(name: String): FileOperations = byName.get(name)
}

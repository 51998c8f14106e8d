import sbt._

/** The folders that hold what differs between Spark lines. The name of one says which lines use it:
  * `scala-since-4.2` and `scala-until-4.1` have what Spark 4.2 changed, `scala-4.0-to-4.1` is for
  * these two and those between them, and `scala-4.1` for that one. So a new line uses what the line
  * before it uses, until a folder says otherwise.
  */
object Overlays {
  private val Version = """(\d+)\.(\d+)""".r
  private val Since = """since-(.+)""".r
  private val Until = """until-(.+)""".r
  private val Between = """(.+)-to-(.+)""".r

  /** The folders in `parent` that a line uses.
    *
    * @param prefix what their names begin with, such as `scala-`
    * @param line name of the line
    */
  def of(parent: File, prefix: String, line: String): Seq[File] =
    IO.listFiles(parent).toSeq.sorted.filter { folder =>
      folder.isDirectory && folder.getName.startsWith(prefix) &&
      covers(folder, folder.getName.stripPrefix(prefix), number(folder, line))
    }

  private def covers(folder: File, lines: String, line: (Int, Int)): Boolean = {
    import scala.math.Ordering.Implicits._
    lines match {
      case Since(first) => line >= number(folder, first)
      case Until(last) => line <= number(folder, last)
      case Between(first, last) => line >= number(folder, first) && line <= number(folder, last)
      case only => line == number(folder, only)
    }
  }

  private def number(folder: File, line: String): (Int, Int) = line match {
    case Version(major, minor) => (major.toInt, minor.toInt)
    case _ =>
      sys.error(
        s"$folder: expected the name to end with lines such as since-4.2, until-4.1, 4.0-to-4.1 " +
          s"or 4.1, found '$line'. Rename the folder.")
  }
}

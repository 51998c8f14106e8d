import sbt._

/** The project's version, stated once, in the Python package. */
object ProjectVersion {

  private val source = "python/src/holdfast_spark/_version.py"
  private val assignment = """(?m)^__version__(?:\s*:\s*\w+)?\s*=\s*"([^"]+)"""".r

  def read(root: File): String =
    assignment
      .findFirstMatchIn(IO.read(root / source))
      .map(_.group(1))
      .getOrElse(sys.error(s"""$source: expected a line __version__ = "x.y.z", found none."""))
}

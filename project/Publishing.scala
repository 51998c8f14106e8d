import scala.xml.NodeSeq

import sbt.Keys._
import sbt._
import sbt.librarymanagement.MavenCache

/** What a release has besides the jars, and what its POM says: `./dev release`, which starts sbt with
  * `-Dholdfast.release=true`. Without it nothing of this takes time.
  */
object Publishing {

  private val isRelease = sys.props.get("holdfast.release").contains("true")

  private val project = "python/pyproject.toml"
  // Up to the next table; devtools has the same in release/publishing.py.
  private val repository =
    """(?ms)^\[project\.urls\]$(?:(?!^\[).)*?^Repository\s*=\s*"(https://[^"]+)"""".r

  /** For the whole build: who and where. The address is stated once, in the Python package; as long as
    * it is not, the POM has none, and `./dev release --publish` refuses.
    */
  val build: Seq[Setting[_]] = {
    val address = repository.findFirstMatchIn(IO.read(file(project))).map(_.group(1))
    Seq(
      ThisBuild / homepage := address.map(url),
      ThisBuild / scmInfo := address.map(place => ScmInfo(url(place), s"scm:git:$place.git")),
      ThisBuild / pomExtra := developers)
  }

  /** For the project of a Spark line, whose jars carry the classes of `core`. */
  def line(core: Project): Seq[Setting[_]] = Seq(
    Compile / packageDoc / publishArtifact := isRelease,
    Test / publishArtifact := false,
    Compile / doc / sources ++= (core / Compile / sources).value,
    // Links to classes of Spark and of the JDK lead nowhere, and warnings are for who compiles.
    Compile / doc / scalacOptions := Seq(
      "-encoding",
      "utf-8",
      "-no-link-warnings",
      "-nowarn",
      "-doc-title",
      name.value,
      "-doc-version",
      version.value),
    Compile / packageDoc / mappings += licence.value,
    Compile / packageSrc / mappings += licence.value,
    publishTo := (if (isRelease) Some(MavenCache("staging", stagingDirectory.value)) else None))

  private val licence = Def.task {
    (LocalRootProject / baseDirectory).value / "LICENSE" -> "META-INF/LICENSE"
  }

  private val developers: NodeSeq =
    <developers>
      <developer>
        <name>Holdfast authors</name>
      </developer>
    </developers>
}

package io.holdfast.session

/** Texts as words of a command that a user can copy into a shell. */
private[holdfast] object ShellWord {
  private val Plain = "[A-Za-z0-9_@%+=:,./-]+".r

  /** A location as the command line takes it: the path alone where it is a local one.
    *
    * @param location
    *   a path or URI
    */
  def apply(location: String): String = {
    val path = if (location.startsWith("file:")) "/" + location.drop(5).dropWhile(_ == '/') else location
    if (Plain.matches(path)) path else s"'${path.replace("'", "'\\''")}'"
  }
}

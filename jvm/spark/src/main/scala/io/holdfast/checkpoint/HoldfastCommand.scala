package io.holdfast.checkpoint

/** Commands of Holdfast's command line, as a user can copy them out of a message into a shell. */
private[holdfast] object HoldfastCommand {
  private val Plain = "[A-Za-z0-9_@%+=:,./-]+".r

  /** What tells which files are damaged and which versions can be loaded. */
  def verify(checkpoint: String): String = s"holdfast verify ${word(checkpoint)}"

  /** What binds a checkpoint to Holdfast.
    *
    * @param from
    *   the class that it is bound to, where that cannot be loaded
    */
  def migrateToHoldfast(checkpoint: String, from: Option[String] = None): String =
    s"holdfast migrate ${word(checkpoint)}${from.map(c => s" --from ${word(c)}").mkString} " +
      "--to holdfast --apply"

  // The path alone where it is a local one.
  private def word(location: String): String = {
    val path =
      if (location.startsWith("file:")) "/" + location.drop(5).dropWhile(_ == '/') else location
    if (Plain.pattern.matcher(path).matches) path else s"'${path.replace("'", "'\\''")}'"
  }
}

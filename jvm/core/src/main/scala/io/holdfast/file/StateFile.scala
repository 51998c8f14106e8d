package io.holdfast.file

/** A delta or snapshot file, as far as messages about it need to know it.
  *
  * @param name
  *   path of the file
  * @param version
  *   the version that the file belongs to
  */
final case class StateFile(name: String, version: Long, kind: StateFile.Kind)

object StateFile {

  /** @param letter
    *   stands for it in files of stores with column families
    */
  sealed abstract class Kind(val suffix: String, val word: String, val letter: Char)

  /** The changes that make a version out of the one before it. */
  case object Delta extends Kind("delta", "delta file", 'D')

  /** All rows of a version. */
  case object Snapshot extends Kind("snapshot", "snapshot file", 'S')

  /** Ends every delta and snapshot file, where the length of the next key would be. */
  private[file] val EndMarker = -1

  /** Stands in a delta for the length of the value of a removed key. */
  private[file] val RemovedMarker = -1
}

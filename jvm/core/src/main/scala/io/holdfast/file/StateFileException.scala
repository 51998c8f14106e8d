package io.holdfast.file

import java.io.IOException

/** A delta or snapshot file that cannot be read, or cannot be trusted.
  *
  * @param offset
  *   where the trouble begins, in bytes from the start of what the message says
  */
sealed abstract class StateFileException(
    val file: StateFile,
    val offset: Long,
    what: String,
    cause: Throwable,
    where: String = "its decompressed content")
    extends IOException(
      s"${file.kind.word} ${file.name} of version ${file.version} is damaged at byte $offset of " +
        s"$where: $what. Restore the file from a copy, or restart the query from a " +
        "version that does not need it",
      cause)

/** A key length below zero that is not the end marker. */
final class InvalidKeyLengthException(file: StateFile, offset: Long, val length: Int)
    extends StateFileException(
      file,
      offset,
      s"expected a key length (0 or more, or -1 at the end of the file), found $length",
      null)

/** A value length below zero where a value has to follow. */
final class InvalidValueLengthException(file: StateFile, offset: Long, val length: Int)
    extends StateFileException(
      file,
      offset,
      s"expected a value length (0 or more), found $length",
      null)

/** A key or value that cannot be a row. */
final class InvalidRowException(file: StateFile, offset: Long, what: String)
    extends StateFileException(file, offset, what, null)

/** The file ends before its end marker. */
final class TruncatedFileException(file: StateFile, offset: Long, expected: String)
    extends StateFileException(file, offset, s"expected $expected, found the end of the file", null)

/** The bytes do not decompress, or the file system failed while reading them. */
final class UnreadableFileException(file: StateFile, offset: Long, cause: Throwable)
    extends StateFileException(
      file,
      offset,
      s"expected a compressed stream that can be read, found: $cause",
      cause)

/** A row whose stored checksum is not that of its bytes. */
final class RowChecksumException(
    file: StateFile,
    offset: Long,
    val expected: Int,
    val computed: Int)
    extends StateFileException(
      file,
      offset,
      s"expected a row with the checksum $expected, found one with $computed",
      null)

/** A header or block of a file of a store with column families that cannot be right, or is of a kind
  * that this reader does not know.
  */
final class InvalidFamilyFileException(
    file: StateFile,
    offset: Long,
    what: String,
    cause: Throwable = null)
    extends StateFileException(file, offset, what, cause, "the file")

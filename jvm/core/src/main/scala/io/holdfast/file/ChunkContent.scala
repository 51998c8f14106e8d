package io.holdfast.file

/** Whether the content of a chunk keeps to the bytes that are there. lz4-java 1.8 (Spark 3.5 to 4.1)
  * decompresses in native code that is not told where a block ends, and the JVM ends where a damaged
  * length leads out of its memory; compress-lzf 1.1 (the same) copies what lies in memory in front of what
  * it has decompressed. Any thread may call.
  */
private[file] object ChunkContent {

  /** Of a block of lz4: runs of literals, each but the last with a copy of what was there before.
    *
    * @param original
    *   bytes that it has to make
    */
  def isLz4(bytes: Array[Byte], from: Int, to: Int, original: Int): Boolean = {
    var at = from
    var made = 0L
    var isRight = original >= 0
    var ended = false
    while (isRight && !ended) {
      // A copy is never the last.
      if (at >= to) isRight = false
      else {
        val token = bytes(at) & 0xff
        at += 1
        var literals = (token >>> 4).toLong
        if (literals == 15) {
          val end = endOfLength(bytes, at, to)
          literals += lengthOf(bytes, at, end)
          at = end
        }
        made += literals
        if (literals > to - at || made > original) isRight = false
        else {
          at += literals.toInt
          if (at == to) {
            ended = true
            isRight = made == original
          } else if (to - at < 2) isRight = false
          else {
            val distance = bytes(at) & 0xff | (bytes(at + 1) & 0xff) << 8
            at += 2
            isRight = distance <= made
            made += 4 + (token & 15)
            if ((token & 15) == 15) {
              val end = endOfLength(bytes, at, to)
              made += lengthOf(bytes, at, end)
              at = end
            }
            isRight &&= made <= original
          }
        }
      }
    }
    isRight
  }

  // Behind the first byte that is not 255; or `to`, where nothing follows that would be right.
  private def endOfLength(bytes: Array[Byte], from: Int, to: Int): Int = {
    var at = from
    while (at < to && bytes(at) == -1) at += 1
    math.min(at + 1, to)
  }

  private def lengthOf(bytes: Array[Byte], from: Int, end: Int): Long =
    if (end == from) 0L else (end - 1 - from) * 255L + (bytes(end - 1) & 0xff)

  /** Of a chunk of lzf: runs of literals, and copies of what was there before.
    *
    * @param original
    *   bytes that it has to make
    */
  def isLzf(bytes: Array[Byte], from: Int, to: Int, original: Int): Boolean = {
    var at = from
    var made = 0
    var isRight = true
    while (isRight && made < original) {
      if (to - at < 2) isRight = false
      else {
        val control = bytes(at) & 0xff
        at += 1
        if (control < 32) {
          at += control + 1
          made += control + 1
        } else {
          var length = control >>> 5
          if (length == 7) {
            length += bytes(at) & 0xff
            at += 1
          }
          if (at < to) isRight = ((control & 31) << 8 | bytes(at) & 0xff) < made
          at += 1
          made += length + 2
        }
        isRight &&= at <= to
      }
    }
    isRight && made == original
  }
}

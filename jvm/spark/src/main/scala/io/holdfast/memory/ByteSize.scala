package io.holdfast.memory

import java.util.Locale

/** Numbers of bytes as a person reads them. */
private[holdfast] object ByteSize {
  private val Units: Seq[String] = Seq("KiB", "MiB", "GiB", "TiB")

  /** In the largest unit of which there is at least one: `512 B`, `1.5 KiB`, `3.0 GiB`. */
  def apply(bytes: Long): String =
    if (math.abs(bytes) < 1024) s"$bytes B"
    else {
      val sizes = Iterator.iterate(bytes / 1024.0)(_ / 1024).take(Units.size).toSeq
      val (size, unit) = sizes.zip(Units).reverse.find(part => math.abs(part._1) >= 1).get
      "%.1f %s".formatLocal(Locale.ROOT, size, unit)
    }
}

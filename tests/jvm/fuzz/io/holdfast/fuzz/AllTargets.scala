package io.holdfast.fuzz

/** All targets in one process, and a planted defect. The first byte of an input says which it is for. */
object AllTargets {
  private val all = Target.all :+ ("planted" -> PlantedDefect)

  /** As of a [[Target]]. */
  val className: String = getClass.getName.stripSuffix("$")

  def seeds: Seq[Array[Byte]] = for {
    ((name, target), number) <- all.zipWithIndex
    seed <- target.seeds ++ Golden.corrupt(name)
  } yield number.toByte +: seed

  /** What Jazzer calls. */
  def fuzzerTestOneInput(encoded: Array[Byte]): Unit =
    if (encoded.nonEmpty) {
      all((encoded.head & 0xff) % all.size)._2.fuzzerTestOneInput(encoded.tail)
    }
}

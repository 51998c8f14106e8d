package io.holdfast.fuzz

/** All targets in one process, and a planted defect. The first byte of an input says which it is for. */
object AllTargets extends Target {
  private val all = Target.all :+ ("planted" -> PlantedDefect)

  override def seeds: Seq[Array[Byte]] = for {
    ((name, target), number) <- all.zipWithIndex
    seed <- target.seeds ++ Golden.corrupt(name)
  } yield number.toByte +: seed

  override def read(encoded: Array[Byte]): Boolean =
    encoded.nonEmpty && target(encoded).read(encoded.tail)

  override def compare(encoded: Array[Byte]): Unit =
    if (encoded.nonEmpty) target(encoded).compare(encoded.tail)

  private def target(encoded: Array[Byte]): Target = all((encoded.head & 0xff) % all.size)._2
}

package io.holdfast.bench

/** What a measurement is told on its command line: `name=value` words. */
final class Arguments private (values: Map[String, String]) {

  def text(name: String): String = values.getOrElse(
    name,
    throw new IllegalArgumentException(s"say $name=..., for example ${Arguments.Example}"))

  /** A value, or another where it was not given. */
  def text(name: String, otherwise: String): String = values.getOrElse(name, otherwise)

  def int(name: String, otherwise: Int): Int = values.get(name).fold(otherwise)(_.toInt)

  def long(name: String): Long = text(name).toLong

  def int(name: String): Int = text(name).toInt

  def peer: Peer = Peer.named(text("provider"))

  def kind: RowKind = RowKind.named(text("kind"))
}

object Arguments {
  private val Example = "provider=holdfast rows=1000000 kind=small changes=1000"

  def of(words: Seq[String]): Arguments = new Arguments(words.map { word =>
    word.split("=", 2) match {
      case Array(name, value) => name -> value
      case _ => throw new IllegalArgumentException(s"$word is no name=value; for example $Example")
    }
  }.toMap)
}

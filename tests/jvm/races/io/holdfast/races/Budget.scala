package io.holdfast.races

/** How long races are looked for: a moment, or for as many minutes as `./dev races` asks for. */
object Budget {

  /** Minutes for all tests together, if it is not to be a moment. */
  val minutes: Option[Double] = sys.props.get("races.minutes").map(_.toDouble)

  /** Does something once; or again and again until a share of the minutes is over.
    *
    * @param round
    *   is told how many came before it
    * @return
    *   how many there were
    */
  def rounds(share: Double)(round: Int => Unit): Int = {
    val end = System.nanoTime + (minutes.getOrElse(0.0) * share * 60e9).toLong
    var count = 0
    while (count == 0 || System.nanoTime - end < 0) {
      round(count)
      count += 1
    }
    count
  }
}

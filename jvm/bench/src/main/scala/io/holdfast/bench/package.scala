package io.holdfast

package object bench {

  /** What a measurement found, by name; names end with their unit. */
  type Numbers = Seq[(String, Double)]
}

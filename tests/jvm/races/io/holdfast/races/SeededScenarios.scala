package io.holdfast.races

import org.jetbrains.kotlinx.lincheck.CTestStructure
import org.jetbrains.kotlinx.lincheck.execution.RandomExecutionGenerator
import org.jetbrains.lincheck.datastructures.{CTestConfiguration, RandomProvider}

/** Lincheck draws the same scenarios each time; this draws others in each round. */
class SeededScenarios(
    configuration: CTestConfiguration,
    structure: CTestStructure,
    random: RandomProvider)
    extends RandomExecutionGenerator(configuration, structure, SeededScenarios.ofRound(random))

object SeededScenarios {

  /** Which round draws now. */
  @volatile var round = 0

  // Each generator that is made takes a seed.
  private def ofRound(random: RandomProvider): RandomProvider = {
    (0 until round).foreach(_ => random.createRandom())
    random
  }
}

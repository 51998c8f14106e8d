package io.holdfast.fuzz

import java.nio.file.{Files => JavaFiles, Paths}

import org.scalatest.funsuite.AnyFunSuite

/** Jazzer, with a fixed number of runs; `./dev fuzz --only jvm` has it go on for long. */
class FuzzSuite extends AnyFunSuite {

  for ((name, target) <- Target.all) {
    test(s"$name: what is right is read to its end") {
      assert(target.seeds.nonEmpty)
      assert(target.seeds.filterNot(target.read).isEmpty)
      target.seeds.foreach(target.compare)
    }
  }

  test("what has been wrong, or might have been, is read or refused") {
    val inputs =
      for ((name, target) <- Target.all; input <- Golden.corrupt(name))
        yield target -> input
    assert(inputs.nonEmpty)
    inputs.foreach { case (target, input) => target.fuzzerTestOneInput(input) }
  }

  // Jazzer takes longer to start than to draw this many inputs, so it starts once.
  test("nothing goes wrong in some thousand runs but what is planted, and that is found") {
    val folder = JavaFiles.createTempDirectory(Paths.get(sys.props("java.io.tmpdir")), "fuzz-")
    val said = Seq.newBuilder[String]
    val found = new Fuzzer(folder).find(
      AllTargets.className,
      AllTargets.seeds,
      Seq("runs" -> Runs.toString, "seed" -> "1"),
      most = 100,
      said += _)
    val wrong = said.result().filter(_.startsWith("== Java Exception"))
    assert(wrong.forall(_.contains(PlantedDefect.Message)), said.result().mkString("\n"))
    assert(found.nonEmpty && wrong.nonEmpty)
  }

  private val Runs = 60000
}

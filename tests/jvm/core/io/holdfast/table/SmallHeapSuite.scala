package io.holdfast.table

import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** Batches that fail because the heap is really full. */
class SmallHeapSuite extends AnyFunSuite with SeededTests {

  Seq("-XX:+UseSerialGC", "-XX:+UseParallelGC").foreach { collector =>
    seeded(s"a heap that is full costs the batch and nothing else, with $collector") { random =>
      val java = Paths.get(System.getProperty("java.home"), "bin", "java").toString
      val output = Files.createTempFile("small-heap", ".txt")
      val process = new ProcessBuilder(
        java,
        "-Xmx40m",
        collector,
        "-cp",
        System.getProperty("java.class.path"),
        "io.holdfast.table.SmallHeap",
        random.nextInt(1000000).toString)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile)
        .start()
      val code = process.waitFor()
      val said = Files.readString(output)
      assert(code === 0, said)
      assert(said.contains("25 of 25 batches failed"), said)
    }
  }
}

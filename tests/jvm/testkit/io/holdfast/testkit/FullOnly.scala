package io.holdfast.testkit

import org.scalatest.Tag

/** Tests that only `./dev test --full` runs: more of what others test in less time. */
object FullOnly extends Tag("io.holdfast.testkit.FullOnly")

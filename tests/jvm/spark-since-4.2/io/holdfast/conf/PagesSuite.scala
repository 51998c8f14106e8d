package io.holdfast.conf

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

/** The pages of settings and metrics say what there is on the newest lines. */
class PagesSuite extends AnyFunSuite {

  test("docs/settings.md is as SettingsPage writes it") {
    assert(Files.readString(SettingsPage.file) == SettingsPage.text)
  }

  test("docs/metrics.md is as MetricsPage writes it") {
    assert(Files.readString(MetricsPage.file) == MetricsPage.text)
  }
}

package io.holdfast.conf

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

/** The page of settings says what the settings are. */
class SettingsPageSuite extends AnyFunSuite {

  test("docs/settings.md is as SettingsPage writes it") {
    assert(Files.readString(SettingsPage.file) == SettingsPage.text)
  }
}

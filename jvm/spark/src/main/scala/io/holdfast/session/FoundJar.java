package io.holdfast.session;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A jar of Holdfast on the class path. */
public final class FoundJar {
  private static final String JAR = "jar:";
  private static final String FILE = "file:";

  private final String location;
  private final BuildInfo build;

  /** @param location its path or URL */
  public FoundJar(String location, BuildInfo build) {
    this.location = location;
    this.build = build;
  }

  public String location() {
    return location;
  }

  public BuildInfo build() {
    return build;
  }

  /** In the order in which their classes are found. */
  static List<FoundJar> onClassPath() {
    List<FoundJar> found = new ArrayList<>();
    try {
      ClassLoader loader = FoundJar.class.getClassLoader();
      for (URL file : Collections.list(loader.getResources(BuildInfo.FILE))) {
        found.add(new FoundJar(locationOf(file.toString()), BuildInfo.of(file)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  // Of "jar:file:/folder/the.jar!/io/holdfast/holdfast.properties", or of a folder of classes.
  private static String locationOf(String file) {
    String location = file.substring(0, file.length() - BuildInfo.FILE.length() - 1);
    if (location.endsWith("!")) {
      location = location.substring(0, location.length() - 1);
    }
    if (location.startsWith(JAR)) {
      location = location.substring(JAR.length());
    }
    return location.startsWith(FILE) ? location.substring(FILE.length()) : location;
  }
}

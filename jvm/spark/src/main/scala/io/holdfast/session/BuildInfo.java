package io.holdfast.session;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a jar was built as and for, from the file that the build puts into it.
 *
 * <p>In Java like all that {@link JarCheck} needs: a jar for another Scala is to say so, and code that
 * is compiled for Scala 2.12 names classes that Scala 2.13 has not ({@code scala.Serializable} in each
 * function and each companion of a case class).
 */
public final class BuildInfo {
  static final String FILE = "io/holdfast/holdfast.properties";

  private static final Pattern LINE = Pattern.compile("^\\d+\\.\\d+");

  private final String version;
  private final String sparkLine;
  private final String oldestSpark;
  private final String scalaLine;

  /**
   * @param version version of Holdfast
   * @param sparkLine the Spark line, such as "4.2", that the jar fits
   * @param oldestSpark the first release of the line that it fits
   * @param scalaLine the Scala, such as "2.13", that it is compiled for
   */
  public BuildInfo(String version, String sparkLine, String oldestSpark, String scalaLine) {
    this.version = version;
    this.sparkLine = sparkLine;
    this.oldestSpark = oldestSpark;
    this.scalaLine = scalaLine;
  }

  /** This jar's. Any thread may call. */
  public static BuildInfo current() {
    return Current.BUILD;
  }

  static BuildInfo of(URL file) {
    Properties properties = new Properties();
    try (InputStream in = file.openStream()) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new BuildInfo(
        properties.getProperty("version"),
        properties.getProperty("sparkLine"),
        properties.getProperty("oldestSpark"),
        line(properties.getProperty("scalaVersion")));
  }

  public String version() {
    return version;
  }

  public String sparkLine() {
    return sparkLine;
  }

  public String oldestSpark() {
    return oldestSpark;
  }

  public String scalaLine() {
    return scalaLine;
  }

  boolean isFor(String sparkLine, String scalaLine) {
    return this.sparkLine.equals(sparkLine) && this.scalaLine.equals(scalaLine);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BuildInfo && names().equals(((BuildInfo) other).names());
  }

  @Override
  public int hashCode() {
    return names().hashCode();
  }

  private List<String> names() {
    return Arrays.asList(version, sparkLine, oldestSpark, scalaLine);
  }

  /** The line of a version: "4.2" for "4.2.1", and for what a vendor or a preview made of it. */
  static String line(String version) {
    Matcher line = LINE.matcher(version);
    return line.find() ? line.group() : version;
  }

  // Read when it is first asked for.
  private static final class Current {
    static final BuildInfo BUILD = of(BuildInfo.class.getResource("/" + FILE));
  }
}

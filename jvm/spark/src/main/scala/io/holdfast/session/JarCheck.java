package io.holdfast.session;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.slf4j.LoggerFactory;

/** Whether the jar is one for the Spark that runs here. Any thread may call. */
public final class JarCheck {
  // What follows the third number is a vendor's own, or says that the version is not yet one.
  private static final Pattern RELEASE = Pattern.compile("^\\d+\\.\\d+\\.(\\d+)");

  private JarCheck() {}

  /** @throws IllegalStateException if the running Spark is not the jar's */
  public static void check() {
    Optional<String> sentence = mismatch();
    if (sentence.isPresent()) {
      throw new IllegalStateException(sentence.get());
    }
  }

  /**
   * The same while a class is loaded, where nothing else keeps its message.
   *
   * @throws LinkageError if the running Spark is not the jar's
   */
  static void link() {
    Optional<String> sentence = mismatch();
    if (sentence.isPresent()) {
      throw new LinkageError(sentence.get());
    }
  }

  /** Says in the log when the class path has jars of several builds. */
  public static void warnOfOthers() {
    List<FoundJar> jars = FoundJar.onClassPath();
    Set<BuildInfo> builds = new HashSet<>();
    StringBuilder locations = new StringBuilder();
    for (FoundJar jar : jars) {
      builds.add(jar.build());
      locations.append(locations.length() == 0 ? "" : ", ").append(jar.location());
    }
    if (builds.size() > 1) {
      LoggerFactory.getLogger(JarCheck.class)
          .warn(
              "The class path has {} jars of Holdfast, and the first is used: {}. Remove the others",
              jars.size(),
              locations);
    }
  }

  private static Optional<String> mismatch() {
    return mismatch(
        BuildInfo.current(),
        org.apache.spark.package$.MODULE$.SPARK_VERSION(),
        scala.util.Properties.versionNumberString(),
        FoundJar.onClassPath());
  }

  /**
   * What is wrong when a jar runs on a Spark that it is not built for, or nothing.
   *
   * @param sparkVersion of the Spark that runs, such as "4.2.1"
   * @param scalaVersion of its Scala, such as "2.13.16"
   * @param onClassPath all jars of Holdfast on the class path, the one in use first
   */
  static Optional<String> mismatch(
      BuildInfo build, String sparkVersion, String scalaVersion, List<FoundJar> onClassPath) {
    String spark = BuildInfo.line(sparkVersion);
    String scala = BuildInfo.line(scalaVersion);
    if (!spark.equals(build.sparkLine())) {
      String sentence =
          String.format(
              "This Holdfast %s jar is built for Spark %s and this is Spark %s, whose state store "
                  + "interface differs",
              build.version(), build.sparkLine(), sparkVersion);
      return Optional.of(sentence + remedy(build, spark, scala, onClassPath));
    }
    if (!scala.equals(build.scalaLine())) {
      String sentence =
          String.format(
              "This Holdfast %s jar is built for Scala %s and this Spark has Scala %s",
              build.version(), build.scalaLine(), scala);
      return Optional.of(sentence + remedy(build, spark, scala, onClassPath));
    }
    // Spark changed the interface within a line once: 4.0.0 has not what 4.0.1 has.
    if (release(sparkVersion) < release(build.oldestSpark())) {
      String sentence =
          String.format(
              "This Holdfast %s jar is built for Spark %s and newer ones of its line and this is "
                  + "Spark %s, whose state store interface differs. Use Spark %s or newer",
              build.version(), build.oldestSpark(), sparkVersion, build.oldestSpark());
      return Optional.of(sentence);
    }
    return Optional.empty();
  }

  private static String remedy(
      BuildInfo build, String spark, String scala, List<FoundJar> onClassPath) {
    Optional<FoundJar> first =
        onClassPath.stream().filter(jar -> jar.build().equals(build)).findFirst();
    Optional<FoundJar> fitting =
        onClassPath.stream().filter(jar -> jar.build().isFor(spark, scala)).findFirst();
    if (first.isPresent() && fitting.isPresent()) {
      return String.format(
          ". The jar that fits is on the class path too (%s), behind it: remove %s",
          fitting.get().location(), first.get().location());
    }
    return String.format(
        ". Use io.holdfast:holdfast-spark_%s_%s:%s, or let the Python package choose: "
            + "holdfast.configure(builder)",
        spark, scala, build.version());
  }

  private static int release(String version) {
    Matcher found = RELEASE.matcher(version);
    return found.find() ? Integer.parseInt(found.group(1)) : 0;
  }
}

package io.holdfast.session;

/**
 * Refuses to run on another Spark line than the jar was built for, before a wrong jar fails in
 * Spark's traits with an error that tells a user nothing.
 *
 * <p>It does so when the class is loaded: what a constructor throws, Spark shows as an exception
 * without a message, because it makes providers by reflection ({@code StateStoreProvider.create},
 * Spark 4.2). Only Java has code that runs at that time.
 */
public abstract class FitsThisSpark {
  static {
    JarCheck.link();
  }
}

package io.holdfast.versions;

import io.holdfast.checkpoint.VersionId;
import io.holdfast.table.SmallRows;
import io.holdfast.table.Version;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import scala.Option;

/** A version is made and published; who finds it in memory, without a lock, finds its rows whole. */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "It was not there yet.")
@Outcome(id = "0, 3", expect = Expect.ACCEPTABLE, desc = "It came between the two calls.")
@Outcome(id = "3, 3", expect = Expect.ACCEPTABLE, desc = "It was there, with its rows.")
@Outcome(expect = Expect.FORBIDDEN, desc = "It was there without its rows, or has gone again.")
@State
public class PublishedVersion {
  private static final VersionId FIRST = new VersionId(1L, Option.empty());
  private static final VersionId SECOND = new VersionId(2L, Option.empty());

  private final Version version = SmallRows.version(1, 1);
  private final VersionsInMemory inMemory = new VersionsInMemory(2);

  {
    inMemory.put(FIRST, version, Option.empty());
  }

  @Actor
  public void task() {
    inMemory.put(SECOND, SmallRows.next(version, 2, 2), Option.empty());
  }

  @Actor
  public void reader(II_Result result) {
    result.r1 = sum();
    result.r2 = sum();
  }

  private int sum() {
    Option<Version> found = inMemory.get(SECOND);
    return found.isEmpty() ? 0 : SmallRows.sum(found.get());
  }
}

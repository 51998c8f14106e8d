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

/**
 * A version is made and published, and another one after it; who asks for the first of them all the time,
 * without a lock, finds its rows whole, and finds it from then on. The results are the sum of its rows, 0
 * if it was never found, and how often it was missing after that.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "It was not there yet.")
@Outcome(id = "3, 0", expect = Expect.ACCEPTABLE, desc = "It came, with its rows, and stayed.")
@Outcome(expect = Expect.FORBIDDEN, desc = "It was there without its rows, or has gone again.")
@State
public class PublishedVersion {
  private static final int LOOKS = 50;
  private static final VersionId FIRST = new VersionId(1L, Option.empty());
  private static final VersionId SECOND = new VersionId(2L, Option.empty());
  private static final VersionId THIRD = new VersionId(3L, Option.empty());

  private final Version version = SmallRows.version(1, 1);
  private final VersionsInMemory inMemory = new VersionsInMemory(2);

  {
    inMemory.put(FIRST, version, Option.empty());
  }

  @Actor
  public void task() {
    Version next = SmallRows.next(version, 2, 2);
    inMemory.put(SECOND, next, Option.empty());
    inMemory.put(THIRD, next, Option.empty());
  }

  @Actor
  public void reader(II_Result result) {
    Version found = null;
    for (int look = 0; look < LOOKS; look++) {
      Option<Version> now = inMemory.get(SECOND);
      if (now.isDefined()) {
        found = now.get();
      } else if (found != null) {
        result.r2++;
      }
    }
    result.r1 = found == null ? 0 : SmallRows.sum(found);
  }
}

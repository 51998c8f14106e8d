package io.holdfast.table;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two attempts start from one version, of which one at a time appends to its tail page. */
@JCStressTest
@Outcome(id = "6, 8", expect = Expect.ACCEPTABLE, desc = "Each has its own rows and those of the base.")
@Outcome(expect = Expect.FORBIDDEN, desc = "One has written over rows of the other.")
@State
public class RowsOfTwoAttempts {
  private final Version version = SmallRows.version(1, 1);

  @Actor
  public void first(II_Result result) {
    result.r1 = SmallRows.sum(SmallRows.next(version, 2, 5));
  }

  @Actor
  public void second(II_Result result) {
    result.r2 = SmallRows.sum(SmallRows.next(version, 3, 7));
  }
}

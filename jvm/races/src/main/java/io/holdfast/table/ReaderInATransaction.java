package io.holdfast.table;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** One thread puts into a transaction and another one looks, as Python runners of Spark 3.5 do. */
@JCStressTest
@Outcome(
    id = {"0, 5", "2, 5"},
    expect = Expect.ACCEPTABLE,
    desc = "The reader sees a whole row or none, and no change is lost.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Half of a change was seen, or a change was lost.")
@State
public class ReaderInATransaction {
  private final Transaction transaction =
      SmallRows.open(Version.empty(scala.Option.empty()));

  @Actor
  public void writer() {
    SmallRows.put(transaction, 1, 2);
    SmallRows.put(transaction, 2, 3);
  }

  @Actor
  public void reader(II_Result result) {
    result.r1 = SmallRows.value(transaction, 1);
  }

  @Arbiter
  public void result(II_Result result) {
    result.r2 = SmallRows.sum(transaction.commit());
  }
}

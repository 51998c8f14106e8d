package io.holdfast.table;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * A version is read while a transaction fills its tail page with another value of its row and with a new
 * one. The reader asks for both rows and walks over all; the other thread says what it has made.
 */
@JCStressTest
@Outcome(
    id = "1, 0, 1, 5",
    expect = Expect.ACCEPTABLE,
    desc = "A version shows its rows and no others, and the next one has its own.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A version has changed.")
@State
public class RowsBesideAppends {
  private final Version version = SmallRows.version(1, 1);

  @Actor
  public void task(IIII_Result result) {
    Transaction transaction = SmallRows.open(version);
    SmallRows.put(transaction, 1, 2);
    SmallRows.put(transaction, 2, 3);
    result.r4 = SmallRows.sum(transaction.commit());
  }

  @Actor
  public void reader(IIII_Result result) {
    result.r3 = SmallRows.sum(version);
    result.r1 = SmallRows.value(version, 1);
    result.r2 = SmallRows.value(version, 2);
  }
}

package io.holdfast.table;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * Two attempts give up a row that a third thread reads. The results are the bytes of its record and the
 * length of its value as the reader sees them, and afterwards the length and whether it is given up.
 */
@JCStressTest
@Outcome(id = "16, 3, 3, 1", expect = Expect.ACCEPTABLE, desc = "The row stays what it is.")
@Outcome(expect = Expect.FORBIDDEN, desc = "The reader sees another row.")
@State
public class RowGivenUp {
  private static final RowRecord$ RECORDS = RowRecord$.MODULE$;
  private static final byte[] KEY = {1, 2};
  private static final byte[] VALUE = {3, 4, 5};

  private final byte[] page = new byte[16];

  public RowGivenUp() {
    RECORDS.write(page, 0, 0, KEY, 0, KEY.length, VALUE, 0, VALUE.length);
  }

  @Actor
  public void first() {
    RECORDS.giveUp(page, 0);
  }

  @Actor
  public void second() {
    RECORDS.giveUp(page, 0);
  }

  @Actor
  public void reader(IIII_Result result) {
    result.r1 = RECORDS.sizeAt(page, 0);
    result.r2 = RECORDS.valueLength(RECORDS.header(page, 0));
  }

  @Arbiter
  public void result(IIII_Result result) {
    result.r3 = RECORDS.valueLength(page, 0);
    result.r4 = RECORDS.isGivenUp(page, 0) ? 1 : 0;
  }
}

package io.holdfast.table;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Two attempts append to the tail of their version, if it is free: each a byte with its own number. The
 * results are the bytes in it, what is said to be used of it, and how many attempts found it free.
 */
@JCStressTest
@Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "The second attempt found it taken.")
@Outcome(id = "2, 1, 1", expect = Expect.ACCEPTABLE, desc = "The first attempt found it taken.")
@Outcome(id = {"12, 2, 2", "21, 2, 2"}, expect = Expect.ACCEPTABLE, desc = "One after the other.")
@Outcome(expect = Expect.FORBIDDEN, desc = "One wrote over what the other had written.")
@State
public class TailOfTwoAttempts {
  private final TailPage tail = new TailPage(1, new byte[2]);
  private int ofFirst;
  private int ofSecond;

  @Actor
  public void first() {
    ofFirst = append(1);
  }

  @Actor
  public void second() {
    ofSecond = append(2);
  }

  private int append(int number) {
    if (!tail.claim(number == 1 ? "first" : "second")) {
      return 0;
    }
    int used = tail.used();
    tail.page()[used] = (byte) number;
    tail.release(used + 1);
    return 1;
  }

  @Arbiter
  public void result(III_Result result) {
    byte[] page = tail.page();
    result.r1 = page[1] == 0 ? page[0] : 10 * page[0] + page[1];
    result.r2 = tail.used();
    result.r3 = ofFirst + ofSecond;
  }
}

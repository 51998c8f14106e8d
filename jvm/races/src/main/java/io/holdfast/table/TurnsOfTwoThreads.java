package io.holdfast.table;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** The owner of a transaction takes turns without the lock, and another thread comes. */
@JCStressTest
@Outcome(id = "4", expect = Expect.ACCEPTABLE, desc = "Nobody is inside beside another one.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Two were inside, or one did not see what the other did.")
@State
public class TurnsOfTwoThreads {
  private final OneAtATime turns = new OneAtATime();
  private int count;

  @Actor
  public void owner() {
    turn();
    turn();
    turn();
  }

  @Actor
  public void other() {
    turn();
  }

  private void turn() {
    turns.enter();
    try {
      count++;
    } finally {
      turns.leave();
    }
  }

  @Arbiter
  public void result(I_Result result) {
    result.r1 = count;
  }
}

package io.holdfast.surroundings;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import scala.runtime.BoxedUnit;

/** A thread of the executor does the other part of a commit, or comes too late for it. */
@JCStressTest
@Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "The part was done once, and was seen.")
@Outcome(expect = Expect.FORBIDDEN, desc = "It was done twice or never, or what it did was not seen.")
@State
public class PartsOfACommit {
  private volatile Runnable given;
  private int before;
  private int seen;
  private int times;

  private final Beside beside = new Beside(work -> given = work, 0L);

  @Actor
  public void task(II_Result result) {
    before = 1;
    beside.both(1L, this::other, () -> BoxedUnit.UNIT);
    result.r1 = seen;
    result.r2 = times;
  }

  private BoxedUnit other() {
    seen = before + 1;
    times++;
    return BoxedUnit.UNIT;
  }

  @Actor
  public void thread() {
    Runnable work = given;
    while (work == null) {
      Thread.onSpinWait();
      work = given;
    }
    work.run();
  }
}

package io.holdfast.memory;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;
import scala.runtime.BoxedUnit;

/** A transaction counts what it takes while another thread ends it, because its task is over. */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "All is given back.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Something stays counted, or was given back twice.")
@State
public class CountedMemory {
  private static final long PIECE = 1L << 20;

  private final AtomicLong held = new AtomicLong();
  private final StoreMemory.Use use =
      new StoreMemory(
              "a store",
              MemoryLimit.of(100 * PIECE),
              held,
              new LimitWarning(() -> 0L),
              all -> BoxedUnit.UNIT)
          .newUse(true);

  @Actor
  public void task() {
    use.allocate(PIECE);
    use.tryAllocate(PIECE);
    use.release(PIECE);
    use.holds(3 * PIECE);
  }

  @Actor
  public void cleanup() {
    use.end();
  }

  @Arbiter
  public void result(J_Result result) {
    use.end();
    result.r1 = held.get();
  }
}

package io.holdfast.memory;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import scala.runtime.BoxedUnit;

/** A store asks for more than the limit allows while another one asks for what there is room for. */
@JCStressTest
@Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "Just what has no room is refused.")
@Outcome(expect = Expect.FORBIDDEN, desc = "What has room is refused, or what has none is not.")
@State
public class RefusedMemory {
  private static final MemoryLimit LIMIT = MemoryLimit.of(100L << 20);
  private static final LimitWarning WARNING = new LimitWarning(() -> 0L);

  private final AtomicLong held = new AtomicLong();
  private final StoreMemory.Use large = use();
  private final StoreMemory.Use small = use();

  private StoreMemory.Use use() {
    return new StoreMemory("a store", LIMIT, held, WARNING, all -> BoxedUnit.UNIT).newUse(true);
  }

  @Actor
  public void large(ZZ_Result result) {
    result.r1 = large.tryAllocate(101L << 20);
  }

  @Actor
  public void small(ZZ_Result result) {
    result.r2 = small.tryAllocate(1L << 20);
  }
}
